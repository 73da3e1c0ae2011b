/** The data of server-sent events, one string an event, from a byte stream cut anywhere. */
export async function* readSseData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const events = rest.split(/\r?\n\r?\n/u);
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = dataOf(event);
      if (data !== undefined) yield data;
    }
  }
  const last = dataOf(rest + decoder.decode());
  if (last !== undefined) yield last;
}

function dataOf(event: string): string | undefined {
  const lines = event.split(/\r?\n/u).filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return undefined;
  return lines.map((line) => line.slice(5).replace(/^ /u, '')).join('\n');
}
