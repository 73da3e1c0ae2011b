/** Keeps the last `limit` bytes of a stream; `text()` decodes them, from a whole character on. */
export function keepTail(limit: number): { push(chunk: Buffer): void; text(): string } {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      for (let first = chunks[0]; first !== undefined && size - first.length >= limit; first = chunks[0]) {
        chunks.shift();
        size -= first.length;
      }
    },
    text() {
      const bytes = Buffer.concat(chunks);
      let from = Math.max(0, bytes.length - limit);
      while (from > 0 && from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
      return bytes.subarray(from).toString('utf8');
    },
  };
}
