import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { seededRandom } from './seededRandom.ts';

const CONSONANTS = 'bdfgklmnprstvz';
const VOWELS = 'aeiou';

/** The grader: it never sees the policy's words, only what stands in answer.txt. */
const GRADER = `#!/bin/sh
# Criteria: answer.txt was written; it holds a word of the file; that word is the code.
wrote=0 fromFile=0 exact=0
if [ -f "$WORKSPACE/answer.txt" ]; then
  wrote=1
  answer=$(head -c 200 "$WORKSPACE/answer.txt" | tr -d ' \\t\\r\\n')
  while read -r word; do
    if [ -n "$answer" ] && [ "$answer" = "$word" ]; then fromFile=1; fi
  done < "$GRADER/words.txt"
  if [ "$answer" = "$(cat "$GRADER/code.txt")" ]; then exact=1; fi
fi
printf '{"criteria":{"wrote":%s,"fromFile":%s,"exact":%s}}' $wrote $fromFile $exact > "$OUT/reward.json"
`;

/** A demo task before it is written: everything in it follows from the seed. */
interface DemoTask {
  readonly taskId: string;
  readonly file: string;
  readonly code: string;
  readonly decoys: readonly string[];
  readonly lines: readonly string[];
}

/**
 * Tasks of the demo: a file with a code among other words, to be found and written down. Training
 * and held-out tasks are drawn from separate seeds and share no word of an answer on purpose.
 */
export function demoTasks(seed: number, count: number, prefix: string): readonly DemoTask[] {
  const random = seededRandom(seed);
  const pick = <T>(items: ArrayLike<T>): T => items[Math.floor(random() * items.length)]!;
  const word = (): string => pick(CONSONANTS) + pick(VOWELS) + pick(CONSONANTS) + pick(VOWELS);
  const distinct = (n: number): string[] => {
    const words = new Set<string>();
    while (words.size < n) words.add(word());
    return [...words];
  };
  return Array.from({ length: count }, (_, index) => {
    const [file, code, note, list] = distinct(4) as [string, string, string, string];
    const lines = [`code: ${code}`, `note: ${note}`, `list: ${list}`];
    for (let i = lines.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [lines[i], lines[j]] = [lines[j]!, lines[i]!];
    }
    return {
      taskId: `${prefix}-${String(index).padStart(3, '0')}`,
      file: `${file}.txt`,
      code,
      decoys: [note, list],
      lines,
    };
  });
}

/** Writes a demo task as a task folder, so that a person can read it and run it by hand. */
export async function writeDemoTask(parent: string, task: DemoTask): Promise<string> {
  const folder = join(parent, task.taskId);
  await mkdir(join(folder, 'workspace'), { recursive: true });
  await mkdir(join(folder, 'grader'), { recursive: true });
  const description = {
    version: 1,
    id: task.taskId,
    instruction: `Read ${task.file} and write its code to answer.txt.`,
    verifier: {
      script: 'grade.sh',
      timeoutSeconds: 10,
      criteria: { wrote: 0.2, fromFile: 0.3, exact: 0.5 },
    },
  };
  await Promise.all([
    writeFile(join(folder, 'task.yaml'), stringify(description)),
    writeFile(join(folder, 'workspace', task.file), `${task.lines.join('\n')}\n`),
    writeFile(join(folder, 'grader', 'grade.sh'), GRADER, { mode: 0o755 }),
    writeFile(join(folder, 'grader', 'words.txt'), `${[task.code, ...task.decoys].join('\n')}\n`),
    writeFile(join(folder, 'grader', 'code.txt'), task.code),
  ]);
  return folder;
}
