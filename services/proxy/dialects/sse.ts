/** One server-sent event. */
export function sseEvent(data: object, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

const pieceLength = 4_096;

/** A text in pieces that never cut a character in two; an empty text has none. */
export function textPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(from + pieceLength, text.length);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
