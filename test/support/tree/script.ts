import { assistantMessage, textMessage, toolMessage } from '../../../schemas/canonical.ts';
import { digestHex } from '../../../schemas/digest.ts';
import type { EspalierEvent, Message, ModelCalled, ToolCall } from '../../../schemas/generated/events.ts';
import { emptyTree } from '../../../streams/tree/callTree.ts';
import { evolve } from '../../../streams/tree/evolve.ts';
import { ids, modelCalled, type RolloutIds, requested, rewarded, sealed, settled } from './events.ts';
import { encode } from './words.ts';

/** One message of a prompt: its canonical form and the words it is rendered as. */
interface Seen {
  readonly message: Message | null;
  readonly text: string;
  readonly from?: string;
}

export const system = (text: string): Seen => ({ message: textMessage('system', text), text: `s: ${text}` });
export const user = (text: string): Seen => ({ message: textMessage('user', text), text: `u: ${text}` });
export const tool = (text: string): Seen => ({ message: toolMessage('t', text), text: `t: ${text}` });
/** An assistant message that the harness echoes in its own words. */
export const echo = (text: string): Seen => ({ message: assistantMessage(text), text: `a: ${text} /` });

/** How a call is written down in a test. Its sampled words are `says`, its tool calls and `/`. */
export interface CallScript {
  /** the call it extends; left out, it carries its full input */
  readonly after?: string;
  readonly sees: readonly (Seen | string)[];
  readonly says?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  /** tools of its context; left out, not known */
  readonly tools?: readonly string[];
  /** earlier calls that the proxy recognised in the request */
  readonly echoes?: readonly string[];
  /** leaves out messages and response, as bare recordings do */
  readonly bare?: boolean;
  readonly fields?: Partial<ModelCalled>;
}

/** A rollout written down call by call; a string in `sees` is an earlier call's reply, id for id. */
export function script(rollout: RolloutIds = ids(), attempt = 0) {
  const calls = new Map<string, ModelCalled>();
  const tree = emptyTree();
  const recall = (name: string): Seen => {
    const call = calls.get(name) as ModelCalled;
    return { message: call.response, text: '', from: name };
  };
  const tokensOf = (seen: Seen): number[] =>
    seen.from === undefined
      ? [...encode(seen.text)]
      : [...encode('a:'), ...(calls.get(seen.from) as ModelCalled).sampledTokenIds];

  const self = {
    rollout,
    call(callId: string, spec: CallScript) {
      const seen = spec.sees.map((item) => (typeof item === 'string' ? recall(item) : item));
      const sampled =
        spec.says === undefined ? '' : [spec.says, ...(spec.calls ?? []).map(shown), '/'].join(' ');
      const parent = spec.after === undefined ? undefined : tree.nodes.get(spec.after);
      if (spec.after !== undefined && parent === undefined) throw new Error(`no call ${spec.after}`);
      const toolCalls: ToolCall[] = (spec.calls ?? []).map((t, i) => ({ id: `${callId}-${i}`, ...t }));
      const event = modelCalled({
        ...rollout,
        attempt,
        callId,
        seq: calls.size,
        parentCallId: spec.after ?? null,
        prefixTokenCount: parent?.depth ?? 0,
        prefixDigest: parent === undefined ? null : digestHex(parent.digest),
        envTokenIds: Int32Array.from([...seen.flatMap(tokensOf), ...encode('a:')]),
        sampledTokenIds: encode(sampled),
        newMessages: spec.bare ? [] : seen.flatMap(({ message }) => message ?? []),
        response: spec.bare ? null : assistantMessage(spec.says ?? '', toolCalls),
        attribution: (spec.echoes ?? seen.flatMap(({ from }) => from ?? [])).map((id) => ({
          callId: id,
          by: 'toolCallId',
        })),
        context:
          spec.tools === undefined
            ? null
            : {
                system: seen.find(({ message }) => message?.role === 'system')?.message?.content ?? '',
                toolNames: spec.tools,
                tools: null,
              },
        ...spec.fields,
      });
      calls.set(callId, event);
      evolve(tree, event);
      return self;
    },
    events: (): readonly ModelCalled[] => [...calls.values()],
    /** The rollout from request to settlement, with its reward. */
    recorded(
      reward: number,
      instruction: string | null = null,
      groupSize = 1,
      undelivered: readonly string[] = [],
    ): EspalierEvent[] {
      const callIds = [...calls.keys()];
      return [
        requested(rollout, { groupSize, instruction }),
        ...calls.values(),
        sealed(rollout, callIds, { attempt, undelivered }),
        rewarded(rollout, reward, attempt),
        settled(rollout, attempt),
      ];
    },
  };
  return self;
}

const shown = (call: { readonly name: string; readonly arguments: string }): string =>
  `${call.name}(${call.arguments.replace(/\s+/gu, '_')})`;
