// POST a JSON body, read the reply as server-sent events. Retries like a vendor SDK: the same bytes again
// after 408, 429, 5xx, a broken connection, an error event or a stream without its terminal event.
import http from 'node:http';

const tries = 8;
const firstWaitMs = 100;
const longestWaitMs = 5_000;
const idleMs = 180_000;

class Retryable extends Error {
  constructor(message, waitMs) {
    super(message);
    this.waitMs = waitMs;
  }
}

/**
 * Resolves to the parsed data of all events, once isTerminal(data) held for one of them.
 * `data` is the parsed JSON, or the plain string where the line is no JSON (`[DONE]`).
 */
export async function postStream(url, headers, payload, isTerminal) {
  const body = Buffer.from(JSON.stringify(payload));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await postOnce(url, headers, body, isTerminal);
    } catch (error) {
      if (!(error instanceof Retryable)) throw error;
      if (attempt >= tries) throw new Error(`${error.message} (gave up after ${tries} tries)`);
      const backoff = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs);
      await new Promise((wake) => setTimeout(wake, error.waitMs ?? backoff));
    }
  }
}

function postOnce(url, headers, body, isTerminal) {
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'content-length': body.length,
        ...headers,
      },
    });
    const broken = (error) => reject(new Retryable(`the connection broke: ${error.code ?? error.message}`));
    request.setTimeout(idleMs, () => request.destroy(new Error('no byte for too long')));
    request.on('error', broken);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', broken);
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const status = response.statusCode;
        if (status === 200) return settleStream(text, isTerminal, resolve, reject);
        const message = `HTTP ${status}: ${text.slice(0, 300)}`;
        if (status !== 408 && status !== 429 && status < 500) return reject(new Error(message));
        reject(new Retryable(message, retryAfterMs(response.headers['retry-after'])));
      });
    });
    request.end(body);
  });
}

function settleStream(text, isTerminal, resolve, reject) {
  const events = [];
  for (const block of text.split(/\r?\n\r?\n/)) {
    const lines = block.split(/\r?\n/).filter((line) => line.startsWith('data:'));
    if (lines.length === 0) continue;
    const data = parseData(lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n'));
    if (data.error)
      return reject(new Retryable(`the stream carried an error: ${JSON.stringify(data.error)}`));
    events.push(data);
    if (isTerminal(data)) return resolve(events);
  }
  reject(new Retryable('the stream ended without its terminal event'));
}

function parseData(line) {
  try {
    return JSON.parse(line) ?? '';
  } catch {
    return line;
  }
}

function retryAfterMs(header) {
  const seconds = Number.parseFloat(header ?? '');
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, 60_000) : undefined;
}
