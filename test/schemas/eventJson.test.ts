import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EspalierError } from '../../schemas/errors.ts';
import { eventJson } from '../../schemas/eventJson.ts';
import { loadSchemas } from '../../schemas/loadSchemas.ts';

const json = eventJson(loadSchemas());
const ids = { runId: 'run', groupId: 'g', rolloutId: 'r', attempt: 0 };

function refusal(text: string, line = 1): EspalierError {
  try {
    json.read(text, line);
  } catch (error) {
    if (error instanceof EspalierError) return error;
  }
  throw new Error('was not refused');
}

test('a minimal recording line is enough, and the rest takes its defaults', () => {
  const event = json.read(
    JSON.stringify({
      type: 'ModelCalled',
      ...ids,
      callId: 'c',
      seq: 0,
      envTokenIds: [1, 2],
      sampledTokenIds: [3],
      rolloutLogprobs: [-0.25],
      finishReason: 'stop',
      somethingElse: true,
    }),
    1,
  );
  expect(event).toMatchObject({
    parentCallId: null,
    temperature: 1,
    logprobsMode: 'processed',
    newMessages: [],
  });
  expect(event).toMatchObject({ envTokenIds: Int32Array.of(1, 2), rolloutLogprobs: Float32Array.of(-0.25) });
});

test('nulls are left out, except where absence would be ambiguous', () => {
  const text = json.write({
    type: 'RolloutSettled',
    runId: 'x',
    groupId: 'g',
    rolloutId: 'r',
    scoredAttempt: null,
    outcome: 'abandoned',
    attempts: [],
    at: 0,
  });
  expect(JSON.parse(text)).toHaveProperty('scoredAttempt', null);
  expect(
    JSON.parse(json.write({ type: 'GroupDropped', runId: 'x', groupId: 'g', reason: 'stale', detail: null })),
  ).not.toHaveProperty('detail');
});

test('every float32 survives its JSON text', () => {
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true, noDefaultInfinity: true })), (values) => {
      const event = json.read(
        JSON.stringify({
          type: 'ModelCalled',
          ...ids,
          callId: 'c',
          seq: 0,
          envTokenIds: [],
          sampledTokenIds: values.map(() => 1),
          rolloutLogprobs: values,
          finishReason: 'stop',
        }),
        1,
      );
      if (event?.type !== 'ModelCalled') throw new Error('another event');
      const again = json.read(json.write(event), 1);
      // JSON has no negative zero; nothing in training tells it from zero.
      const plain = Array.from(event.rolloutLogprobs, (v) => v + 0);
      expect(again?.type === 'ModelCalled' && Array.from(again.rolloutLogprobs, (v) => v + 0)).toEqual(plain);
    }),
  );
});

test('0.1 is written as 0.1, not as the double nearest to its float32', () => {
  const event = json.read(
    JSON.stringify({
      type: 'ModelCalled',
      ...ids,
      callId: 'c',
      seq: 0,
      envTokenIds: [],
      sampledTokenIds: [1],
      rolloutLogprobs: [0.1],
      finishReason: 'stop',
    }),
    1,
  );
  expect(json.write(event!)).toContain('"rolloutLogprobs":[0.1]');
});

test('blank lines and the format line give no event', () => {
  expect(json.read('  ', 1)).toBeUndefined();
  expect(json.read('{"type":"Format","version":1}', 1)).toBeUndefined();
  expect(refusal('{"type":"Format","version":2}', 3).message).toContain('line 3: Format.version');
});

test.each([
  ['{"type":"Nope"}', 'E_EVENT_UNKNOWN_TYPE', 'line 7'],
  ['not json', 'E_EVENT_JSON', 'line 7'],
  ['[]', 'E_EVENT_JSON', 'must be an object'],
  [
    JSON.stringify({ type: 'RewardGiven', ...ids, reward: '1' }),
    'E_EVENT_JSON',
    'RewardGiven.reward must be a double',
  ],
  [JSON.stringify({ type: 'RewardGiven', ...ids }), 'E_EVENT_JSON', 'RewardGiven.reward is missing'],
  [
    JSON.stringify({
      type: 'ModelCalled',
      ...ids,
      callId: 'c',
      seq: 0,
      envTokenIds: [1, 2.5],
      sampledTokenIds: [],
      rolloutLogprobs: [],
      finishReason: 'stop',
    }),
    'E_EVENT_JSON',
    'ModelCalled.envTokenIds[1]',
  ],
  [
    JSON.stringify({
      type: 'ModelCalled',
      ...ids,
      callId: 'c',
      seq: 0,
      envTokenIds: [],
      sampledTokenIds: [1],
      rolloutLogprobs: [null],
      finishReason: 'stop',
    }),
    'E_EVENT_JSON',
    'rolloutLogprobs[0]',
  ],
])('%s is refused by name', (text, code, words) => {
  const error = refusal(text, 7);
  expect(error.code).toBe(code);
  expect(error.message).toContain(words);
});
