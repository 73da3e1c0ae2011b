import type { ToolDefinition } from '../../../schemas/canonical.ts';
import type { Message } from '../../../schemas/generated/events.ts';

/** What prompt building needs of a model; the loaded model directory has it. */
export interface PromptRenderer {
  /** Whether the template leaves reasoning out of earlier turns. */
  readonly stripsReasoning: boolean;
  encode(text: string): Int32Array;
  renderRoot(messages: readonly Message[], tools: readonly ToolDefinition[]): Int32Array;
  renderTurn(
    previous: { readonly response: Message; readonly sampledTokenIds: Int32Array },
    messages: readonly Message[],
  ): Int32Array;
}
