import http from 'node:http';

/** An answer, byte for byte. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** A request under way; `leave` breaks the connection. */
export interface RawRequest {
  readonly answer: Promise<RawAnswer>;
  leave(): void;
}

/** Sends bytes as they are, for what an SDK would never do. */
export function rawRequest(
  url: string,
  body: string | Buffer | undefined,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
): RawRequest {
  const request = http.request(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  const answer = new Promise<RawAnswer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
  });
  answer.catch(() => undefined);
  request.end(body);
  return { answer, leave: () => request.destroy() };
}
