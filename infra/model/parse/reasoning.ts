/** A reply cut into its reasoning and the rest. */
export interface Reasoned {
  /** null: the reply has no reasoning */
  readonly reasoning: string | null;
  readonly text: string;
}

const open = '<think>';
const close = '</think>';

/**
 * Takes the `<think>` block off a reply. `opened`: the prompt already opened it, so the reply begins
 * inside. A block that is never closed is reasoning to its end.
 */
export function splitReasoning(text: string, opened: boolean): Reasoned {
  const start = text.match(/^\s*<think>/u);
  if (!opened && start === null) return { reasoning: null, text };
  const from = start === null ? 0 : start[0].length;
  const end = text.indexOf(close, from);
  if (end < 0) return { reasoning: text.slice(from).replace(/^\n/u, ''), text: '' };
  const reasoning = text.slice(from, end).replace(/^\n|\n$/gu, '');
  return { reasoning, text: text.slice(end + close.length).replace(/^\n{1,2}/u, '') };
}

/** Text without its `<think>` blocks: what a harness that drops reasoning sends back. */
export function withoutReasoning(text: string): string {
  return text.includes(open) ? text.replace(/<think>[\s\S]*?(?:<\/think>|$)/gu, '') : text;
}
