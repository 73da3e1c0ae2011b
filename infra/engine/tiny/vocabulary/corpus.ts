// The text the merges are learned from: plain prose, nonsense words of two syllables, and the syntax of tool
// calls. No task, no answer, no file of any task stands in it.
import { pick, type Rng, rngFromSeed } from '../rng.ts';

const PROSE = `The river bends twice before it reaches the mill, and the path beside it is dry in summer.
A good bridge is built from both banks. When the water rises the miller opens the gate and waits.
She was writing a letter about the garden, the weather, and the two birds that nest under the roof.
There is bread on the table, and there are apples in the basket near the door. The train leaves at nine.
Please return the tool after use, and shut the window. In the evening the children sing and then they sleep.
An old map shows where the road was. The user opened a window and the wind came in from the south.
Every summer the market fills with people from the hills who bring cheese, wool and honey.
It is not the work that tires us, it is the waiting. He counted the stars and found one more than before.
The assistant brought water, a lamp and some paper. What was lost in winter was found again in spring.
They were resting under the trees when the rain started. The system of canals is older than the town.
Do this first and that later; ask when in doubt. Short words are best, and the old words best of all.`;

const TOOLS: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['read_file', ['path']],
  ['write_file', ['path', 'content']],
  ['shell', ['command']],
  ['delegate', ['prompt']],
];

export const CONSONANTS = 'bdfgklmnprstvz';
export const VOWELS = 'aeiou';

/** One word of `syllables` consonant-vowel pairs. */
export function nonsenseWord(rng: Rng, syllables = 2): string {
  let out = '';
  for (let i = 0; i < syllables; i++) out += pick(rng, [...CONSONANTS]) + pick(rng, [...VOWELS]);
  return out;
}

/** The whole corpus, the same at every call. */
export function corpus(): string {
  const rng = rngFromSeed(20_240_229);
  const word = () => nonsenseWord(rng);
  const parts: string[] = [];
  for (let i = 0; i < 6; i++) parts.push(PROSE);
  for (let i = 0; i < 2400; i++) parts.push(`${word()} ${word()}.`);
  for (let i = 0; i < 700; i++) {
    const [name, keys] = pick(rng, TOOLS);
    const args = keys.map((key) => `"${key}": "${word()}"`).join(', ');
    parts.push(`<tool_call>\n{"name": "${name}", "arguments": {${args}}}\n</tool_call>`);
    parts.push(`user\n<tool_response>\n${word()}: ${word()}\n</tool_response>`);
    parts.push('assistant\n');
    if (i % 4 === 0) {
      parts.push(
        `system\n<tools>\n{"type": "function", "function": {"name": "${word()}", "description": "${word()}", "parameters": {"type": "object", "properties": {"${word()}": {"type": "string"}}, "required": ["${word()}"]}}}\n</tools>`,
      );
    }
    if (i % 6 === 0) parts.push(`${word()}.txt`, `${word()}.md`, `${word()}.json`);
  }
  return parts.join(' ');
}
