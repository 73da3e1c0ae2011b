/** Line breaks and other control characters made visible, so that a text fits into one paragraph. */
export function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (c) => (c === '\n' ? '↵' : c === '\t' ? '→' : '·'));
}

/** The beginning and the end of a text that is longer than `limit` characters, with a note between. */
export function elideMiddle(text: string, limit: number, note: string): string {
  const characters = [...text];
  if (characters.length <= limit) return text;
  const head = Math.ceil((limit * 2) / 3);
  return `${characters.slice(0, head).join('')} … ${note} … ${characters.slice(head - limit).join('')}`;
}
