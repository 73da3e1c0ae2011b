/**
 * A text cut into lines of at most `width` characters, after a space where there is one in the last
 * third of a line. Nothing is lost: the lines joined are the text.
 */
export function cutLines(text: string, width: number): string[] {
  const characters = [...text];
  const lines: string[] = [];
  let from = 0;
  while (characters.length - from > width) {
    const line = characters.slice(from, from + width);
    const space = line.lastIndexOf(' ');
    const length = space > (width * 2) / 3 ? space + 1 : width;
    lines.push(characters.slice(from, from + length).join(''));
    from += length;
  }
  lines.push(characters.slice(from).join(''));
  return lines;
}
