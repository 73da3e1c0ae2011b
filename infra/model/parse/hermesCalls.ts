/** A tool call as the policy wrote it. */
export interface WrittenCall {
  readonly name: string;
  /** JSON text of an object, as written. */
  readonly arguments: string;
}

/** A reply cut into visible text and tool calls. */
export interface CallsAndText {
  readonly text: string;
  readonly calls: readonly WrittenCall[];
}

const open = '<tool_call>';
const close = '</tool_call>';

/**
 * Reads Hermes tool calls, `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, in order,
 * equal ones included. Total: a block that is no call stays in the text, tags and all, so the harness
 * sees what the policy wrote. A last block without its closing tag counts when the turn was finished.
 */
export function readHermesCalls(reply: string, finished: boolean): CallsAndText {
  const calls: WrittenCall[] = [];
  let text = '';
  let at = 0;
  while (at < reply.length) {
    const start = reply.indexOf(open, at);
    if (start < 0) break;
    const bodyAt = start + open.length;
    const end = reply.indexOf(close, bodyAt);
    const closed = end >= 0;
    const call = closed || finished ? readCall(reply.slice(bodyAt, closed ? end : undefined)) : undefined;
    const next = closed ? end + close.length : reply.length;
    if (call === undefined) {
      // An inner opening tag may begin a good call: go on right after this tag.
      text += reply.slice(at, bodyAt);
      at = bodyAt;
    } else {
      text += reply.slice(at, start);
      calls.push(call);
      at = next;
    }
  }
  text += reply.slice(at);
  return { text: calls.length > 0 ? text.trim() : text, calls };
}

function readCall(body: string): WrittenCall | undefined {
  const json = body.trim();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  const key = 'arguments' in value ? 'arguments' : 'parameters' in value ? 'parameters' : undefined;
  if (key === undefined) return { name: value.name, arguments: '{}' };
  const given = value[key];
  if (typeof given === 'string')
    return isObjectText(given) ? { name: value.name, arguments: given } : undefined;
  if (!isObject(given)) return undefined;
  return { name: value.name, arguments: rawMember(json, key) ?? JSON.stringify(given) };
}

/** The text of a top-level member of a JSON object, as written; the last one when the key repeats. */
function rawMember(json: string, key: string): string | undefined {
  let depth = 0;
  let found: string | undefined;
  let valueFrom = -1;
  let lastKey = '';
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === '"') {
      const from = at;
      for (at += 1; at < json.length && json[at] !== '"'; at += 1) if (json[at] === '\\') at += 1;
      if (depth === 1 && valueFrom < 0) lastKey = JSON.parse(json.slice(from, at + 1)) as string;
    } else if (char === '{' || char === '[') depth += 1;
    else if (char === ':' && depth === 1 && valueFrom < 0) valueFrom = at + 1;
    else if (char === '}' || char === ']' || (char === ',' && depth === 1)) {
      if (depth === 1 && valueFrom >= 0) {
        if (lastKey === key) found = json.slice(valueFrom, at).trim();
        valueFrom = -1;
      }
      if (char !== ',') depth -= 1;
    }
  }
  return found;
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
