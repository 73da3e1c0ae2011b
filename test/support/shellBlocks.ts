/** A fenced `sh` block of a Markdown page. */
export interface ShellBlock {
  readonly file: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly text: string;
  /** Marked `no-run`: it needs what a test does not have. */
  readonly skipped: boolean;
}

/** The `sh` blocks of a page, in order. */
export function shellBlocks(file: string, page: string): readonly ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let open: { line: number; skipped: boolean; lines: string[] } | undefined;
  for (const [i, text] of page.split('\n').entries()) {
    if (open !== undefined && text === '```') {
      blocks.push({ file, line: open.line, text: open.lines.join('\n'), skipped: open.skipped });
      open = undefined;
    } else if (open !== undefined) open.lines.push(text);
    else if (text === '```sh' || text === '```sh no-run') {
      open = { line: i + 1, skipped: text.endsWith('no-run'), lines: [] };
    }
  }
  return blocks;
}
