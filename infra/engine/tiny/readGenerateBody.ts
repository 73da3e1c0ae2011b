import { randomBytes, randomUUID } from 'node:crypto';
import type { GenerationRequest } from './generation.ts';
import { rngFromSeed } from './rng.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A body that cannot be served; the message says which field and why. */
export class BadBody extends Error {}

/** A `/generate` body after its checks. */
export interface GenerateBody {
  readonly request: GenerationRequest;
  readonly stream: boolean;
}

/**
 * Reads the body of `/generate`. Unknown fields are ignored, as other engines do.
 * @throws BadBody
 */
export function readGenerateBody(
  vocabulary: Vocabulary,
  body: Readonly<Record<string, unknown>>,
): GenerateBody {
  const inputIds = idsOf(vocabulary, body.input_ids, 'input_ids');
  if (inputIds.length === 0) throw new BadBody('input_ids must not be empty');
  const sampling = body.sampling_params ?? {};
  if (typeof sampling !== 'object' || sampling === null)
    throw new BadBody('sampling_params must be an object');
  const given = sampling as Readonly<Record<string, unknown>>;
  const temperature = numberOf(given.temperature, 1, 'temperature');
  if (temperature < 0) throw new BadBody('temperature must not be negative');
  const maxNewTokens = numberOf(given.max_new_tokens, 128, 'max_new_tokens');
  if (!Number.isInteger(maxNewTokens) || maxNewTokens < 1)
    throw new BadBody('max_new_tokens must be at least 1');
  const seed = given.seed === undefined ? randomBytes(4).readUInt32LE() : numberOf(given.seed, 0, 'seed');
  return {
    request: {
      id: typeof body.rid === 'string' ? body.rid : randomUUID(),
      inputIds,
      maxNewTokens,
      temperature,
      stopIds: new Set([
        vocabulary.turnEnd,
        ...idsOf(vocabulary, given.stop_token_ids ?? [], 'stop_token_ids'),
      ]),
      rng: rngFromSeed(seed),
    },
    stream: body.stream === true,
  };
}

function idsOf(vocabulary: Vocabulary, value: unknown, field: string): readonly number[] {
  if (!Array.isArray(value)) throw new BadBody(`${field} must be an array of token ids`);
  for (const id of value as readonly unknown[]) {
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= vocabulary.size) {
      throw new BadBody(
        `${field} holds ${JSON.stringify(id)}, which is no id of this vocabulary of ${vocabulary.size}`,
      );
    }
  }
  return value as readonly number[];
}

function numberOf(value: unknown, fallback: number, field: string): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new BadBody(`${field} must be a number`);
  return value;
}
