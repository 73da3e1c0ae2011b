import type { ModelCalled } from '../../schemas/generated/events.ts';
import { calledEvent } from '../../services/proxy/delivery/callEvents.ts';
import { newCallId } from '../../services/proxy/delivery/newCallId.ts';
import type { Dialect } from '../../services/proxy/dialects/dialect.ts';
import { type CallPlan, createLineage } from '../../services/proxy/lineage/lineage.ts';
import { CLAIMS, tinyModel } from './proxyWorld.ts';

/** A call of the lineage under test: its plan, and the record made of a given reply. */
export interface LineageStep {
  readonly plan: CallPlan;
  readonly event: ModelCalled;
  /** The reply as it goes back on the wire. */
  readonly wire: unknown;
}

/** A lineage fed with wire requests and given replies, without engine, log or HTTP. */
export function lineageWorld(dialect: Dialect) {
  const lineage = createLineage(tinyModel);
  const events: ModelCalled[] = [];
  const steps = new Map<string, number[]>();
  return {
    lineage,
    events,
    /** The ids of a call's input and reply, joined from the records along its path. */
    historyOf: (callId: string): readonly number[] => steps.get(callId)!,
    call(body: unknown, text: string, ends = true): LineageStep {
      const request = dialect.readRequest(JSON.parse(JSON.stringify(body)));
      const plan = lineage.plan(request);
      const tokenIds = tinyModel.encode(ends ? `${text}<|im_end|>` : text, { special: true });
      const parse = { truncated: !ends, prefilled: plan.prefill !== '' };
      const event = calledEvent(
        CLAIMS,
        {
          callId: newCallId(1_000 + events.length),
          seq: events.length,
          call: {
            dialect: dialect.name,
            request,
            digest: '',
            hints: { threadKey: null, agentId: null, parentAgentId: null, isRetry: false, headers: {} },
            requestedAt: 0,
          },
          plan,
          temperature: 1,
          maxTokens: 100,
          parse,
        },
        {
          tokenIds,
          logprobs: new Float32Array(tokenIds.length).fill(-0.5),
          logprobsMode: 'processed',
          policySpans: [{ version: '1', start: 0, end: tokenIds.length }],
          finishReason: ends ? 'stop' : 'length',
          engineMs: 1,
        },
        tinyModel.parseReply(tokenIds, parse),
        0,
      );
      lineage.record(event);
      events.push(event);
      steps.set(event.callId, [...plan.inputIds, ...tokenIds]);
      const wire = dialect.toJson({
        id: event.callId.replaceAll('-', ''),
        model: 'm',
        createdAt: 0,
        reasoning: event.response!.reasoning,
        content: event.response!.content,
        toolCalls: event.response!.toolCalls,
        finish: 'stop',
        stopString: null,
        inputTokens: 0,
        outputTokens: 0,
      });
      return { plan, event, wire };
    },
  };
}
