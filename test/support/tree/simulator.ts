import fc from 'fast-check';
import type { EspalierEvent, ModelCallFailed } from '../../../schemas/generated/events.ts';
import type { RolloutIds } from './events.ts';
import { requested, rewarded, sealed, settled } from './events.ts';
import { type CallScript, script, system, tool, user } from './script.ts';

type Seen = CallScript['sees'][number];

/** One thing the simulated harness does; numbers choose among what is possible. */
export interface Action {
  readonly does:
    | 'turn'
    | 'retry'
    | 'rollBack'
    | 'delegate'
    | 'compact'
    | 'rewrite'
    | 'fail'
    | 'cutOff'
    | 'constrain'
    | 'title';
  readonly pick: number;
  /** records the call with its full input instead of the delta */
  readonly full: boolean;
}

export const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.record({
    does: fc.oneof(
      { weight: 5, arbitrary: fc.constant('turn' as const) },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          'retry',
          'rollBack',
          'delegate',
          'compact',
          'rewrite',
          'fail',
          'cutOff',
          'constrain',
          'title',
        ),
      },
    ) as fc.Arbitrary<Action['does']>,
    pick: fc.nat(99),
    full: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

export const TASK = 'Read the file and write its code to the answer file';
const SYSTEM = system('You are an agent with many tools');

interface Thread {
  readonly sees: readonly Seen[];
  readonly tip: string | null;
  readonly since: readonly Seen[];
}

interface TrueCall {
  readonly parent: string | null;
  readonly tokens: number;
  readonly isTrainable: boolean;
  readonly isInvalidEnd: boolean;
}

interface TrueSegment {
  readonly calls: Map<string, TrueCall>;
  /** the turns a rewritten history went on with */
  left: readonly string[] | null;
}

/**
 * Plays a harness against a policy and knows the truth: which call belongs to which thread and segment,
 * what it went on from, and so what has to be trained. It never looks at tokens to find out.
 */
export function simulate(rollout: RolloutIds, does: readonly Action[]) {
  const calls = script(rollout);
  const failed: ModelCallFailed[] = [];
  const undelivered: string[] = [];
  const truth = new Map<string, string>();
  const segments: TrueSegment[] = [];
  let serial = 0;
  const unique = (what: string) => `${what}${rollout.rolloutId}x${serial++}`;
  const words = (what: string, count: number) => Array.from({ length: count }, () => unique(what)).join(' ');

  const begin = (sees: readonly Seen[]): Thread => ({ sees, tip: null, since: sees });
  const add = (thread: Thread, ...seen: readonly Seen[]): Thread => ({
    sees: [...thread.sees, ...seen],
    tip: thread.tip,
    since: [...thread.since, ...seen],
  });
  const record = (thread: Thread, id: string, full: boolean, rest: Omit<CallScript, 'sees'>): Thread => {
    const delta =
      full || thread.tip === null ? { sees: thread.sees } : { after: thread.tip, sees: thread.since };
    calls.call(id, { ...delta, ...rest });
    return { sees: [...thread.sees, id], tip: id, since: [] };
  };

  let main = begin([SYSTEM, user(TASK)]);
  let checkpoints: Thread[] = [];
  const openSegment = () => {
    segments.push({ calls: new Map(), left: null });
    checkpoints = [];
  };
  openSegment();
  const segment = () => segments.at(-1) as TrueSegment;
  const parentInSegment = () => (main.tip !== null && segment().calls.has(main.tip) ? main.tip : null);

  const mainCall = (
    action: Action,
    rest: Omit<CallScript, 'sees' | 'says'> = {},
    invalid = false,
  ): Thread => {
    const id = unique('c');
    checkpoints.push(main);
    const says = words('w', 1 + (action.pick % 3));
    const isTrainable = rest.fields?.constraint === undefined;
    const tokens = says.split(' ').length + (rest.calls?.length ?? 0) + 1;
    segment().calls.set(id, { parent: parentInSegment(), tokens, isTrainable, isInvalidEnd: invalid });
    return record(main, id, action.full, { says, ...rest });
  };
  const goOn = (thread: Thread) => {
    main = add(thread, tool(words('t', 2)));
  };

  for (const action of does) {
    switch (action.does) {
      case 'turn':
        goOn(mainCall(action));
        break;
      case 'constrain':
        goOn(mainCall(action, { fields: { constraint: 'grammar' } }));
        break;
      case 'cutOff':
        // The harness discards the reply and will ask again.
        mainCall(action, { fields: { finishReason: 'length' } }, true);
        break;
      case 'retry': {
        const lost = mainCall(action, {}, true);
        undelivered.push(lost.tip as string);
        break;
      }
      case 'rollBack':
        if (checkpoints.length > 0) main = checkpoints[action.pick % checkpoints.length] as Thread;
        break;
      case 'delegate': {
        const prompt = words('p', 6);
        const asked = mainCall(action, {
          calls: [{ name: 'delegate', arguments: JSON.stringify({ prompt }) }],
        });
        const header = action.pick % 2 === 0 ? { fields: { agentId: 'helper' } } : {};
        let sub = begin([system('You help'), user(prompt)]);
        for (let i = 0; i <= action.pick % 3; i++) {
          const id = unique('s');
          truth.set(id, 'subagent dropped subagent');
          sub = add(record(sub, id, action.full, { says: words('w', 14), ...header }), tool('ok'));
        }
        goOn(asked);
        break;
      }
      case 'title': {
        const id = unique('t');
        truth.set(id, 'utility dropped utility');
        record(begin([system('You write titles'), user(TASK)]), id, true, { says: 'Title', tools: [] });
        break;
      }
      case 'compact': {
        if (segment().calls.size === 0) break;
        const id = unique('k');
        const summary = words('m', 14);
        truth.set(id, 'compaction dropped compaction');
        record(add(main, user('Summarise')), id, action.full, { says: summary });
        main = begin([SYSTEM, user(`${action.pick % 2 === 0 ? TASK : 'Continue.'} ${summary}`)]);
        openSegment();
        // Nothing but the continuation tells a compaction from a last answer.
        goOn(mainCall(action));
        break;
      }
      case 'rewrite': {
        const carried = main.sees.filter((seen): seen is string => typeof seen === 'string');
        if (carried.length === 0 || segment().calls.size === 0) break;
        for (const { calls: known } of segments.slice(-1))
          segment().left = carried.filter((id) => known.has(id));
        main = begin([SYSTEM, user(`${TASK} ${words('edit', 1)}`), ...main.sees.slice(2)]);
        openSegment();
        goOn(mainCall(action));
        break;
      }
      case 'fail':
        failed.push({
          type: 'ModelCallFailed',
          ...rollout,
          attempt: 0,
          callId: unique('f'),
          seq: 1000,
          reason: 'engine',
          detail: null,
          at: 0,
        });
        truth.set(failed.at(-1)!.callId, 'main dropped failed');
        break;
    }
  }
  for (const [id, verdict] of mainVerdicts(segments, undelivered)) truth.set(id, verdict);

  return {
    /** `kind verdict reason` of every call */
    truth,
    /** ModelCalled events in the order they were made */
    calls: calls.events(),
    events(reward: number, groupSize: number): readonly EspalierEvent[] {
      const callIds = [...calls.events(), ...failed].map(({ callId }) => callId);
      return [
        requested(rollout, { groupSize, instruction: TASK }),
        ...calls.events(),
        ...failed,
        sealed(rollout, callIds, { undelivered }),
        rewarded(rollout, reward),
        settled(rollout),
      ];
    },
  };
}

/** The filters by brute force over the true paths of every segment. */
function mainVerdicts(
  segments: readonly TrueSegment[],
  undelivered: readonly string[],
): ReadonlyMap<string, string> {
  const verdicts = new Map<string, string>();
  for (const { calls, left } of segments) {
    const order = [...calls.keys()];
    const call = (id: string) => calls.get(id) as TrueCall;
    const pathTo = (id: string): string[] => {
      const { parent } = call(id);
      return parent === null ? [id] : [...pathTo(parent), id];
    };
    const hasChild = (id: string) => order.some((other) => call(other).parent === id);
    const paths = order
      .filter((id) => !hasChild(id))
      .map(pathTo)
      .map((path) => (call(path.at(-1) as string).isInvalidEnd ? path.slice(0, -1) : path))
      .filter((path) => path.length > 0);
    const count = (path: readonly string[]) => path.filter((id) => call(id).isTrainable).length;
    const sampled = (path: readonly string[]) =>
      path.reduce((sum, id) => sum + (call(id).isTrainable ? call(id).tokens : 0), 0);
    paths.sort(
      (a, b) =>
        count(b) - count(a) || sampled(b) - sampled(a) || order.indexOf(b.at(-1)!) - order.indexOf(a.at(-1)!),
    );
    const kept = new Set(left ?? paths[0] ?? []);
    for (const id of order) {
      if (kept.has(id)) verdicts.set(id, call(id).isTrainable ? 'main trained' : 'main context constrained');
      else if (!hasChild(id) && call(id).isInvalidEnd) {
        verdicts.set(id, undelivered.includes(id) ? 'main dropped undelivered' : 'main dropped truncated');
      } else verdicts.set(id, 'main dropped superseded');
    }
  }
  return verdicts;
}
