// Generated from schemas/*.avsc by `npm run generate`; do not edit.

/** How one attempt ended. */
export interface AttemptOutcome {
  readonly attempt: number;
  readonly outcome: string;
}

/** How an earlier assistant message of the request was recognised. */
export interface Attribution {
  /** the call whose reply it is; null when not recognised */
  readonly callId: string | null;
  /** toolCallId, text or none */
  readonly by: string;
}

/** A large value kept in the blob store, by content. */
export interface BlobRef {
  readonly uri: string;
  /** lower-case hex */
  readonly sha256: string;
}

/** System text and tools of a thread, in full only when new. */
export interface CallContext {
  readonly system: string;
  readonly toolNames: readonly string[];
  /** JSON text of the tool definitions */
  readonly tools: string | null;
}

/** What became of one call. */
export interface CallVerdict {
  readonly callId: string;
  /** main, subagent, compaction or utility */
  readonly kind: string;
  /** trained, context or dropped */
  readonly verdict: string;
  readonly reason: string | null;
}

/** Statistics of the group over its scored rollouts. */
export interface GroupStats {
  /** rollouts asked for */
  readonly size: number;
  readonly scored: number;
  readonly mean: number;
  /** population standard deviation */
  readonly std: number;
}

/** A canonical chat message: what is left once a wire format is taken off. */
export interface Message {
  /** system, user, assistant or tool */
  readonly role: string;
  readonly content: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** the call a tool message answers */
  readonly toolCallId: string | null;
  /** tool name of a tool message */
  readonly name: string | null;
}

/** Which policy version sampled the half-open range of sampled tokens. */
export interface PolicySpan {
  readonly version: string;
  readonly start: number;
  readonly end: number;
}

/** A rollout of a scored group. */
export interface ScoredRollout {
  readonly rolloutId: string;
  readonly reward: number;
  /** null for PPO */
  readonly advantage: number | null;
}

/** Token counts of a sample or batch. */
export interface TokenTotals {
  /** tokens of all nodes, shared prefixes once */
  readonly total: number;
  readonly trained: number;
}

/** One tool call of an assistant message. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the policy wrote it */
  readonly arguments: string;
}

/** What one call adds to its parent: tokenIds from sampledFrom on were sampled and are trained. */
export interface TreeNode {
  /** index of the parent node; -1 for a root */
  readonly parent: number;
  readonly tokenIds: Int32Array;
  readonly sampledFrom: number;
  /** one per trained token */
  readonly rolloutLogprobs: Float32Array;
  /** ranges relative to sampledFrom */
  readonly policySpans: readonly PolicySpan[];
  readonly callId: string;
  readonly temperature: number;
  readonly logprobsMode: string;
  readonly finishReason: string;
}

/** A record that could not be used, with its origin. */
export interface DeadLettered {
  readonly type: 'DeadLettered';
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly code: string;
  readonly message: string;
  readonly key: string | null;
  readonly value: Uint8Array;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** Marker of the first hop: the group is finished and its late events are ignored. */
export interface GroupClosed {
  readonly type: 'GroupClosed';
  readonly runId: string;
  readonly groupId: string;
  /** scored or the reason it was dropped */
  readonly outcome: string;
  readonly callIds: readonly string[];
}

/** A group that is not trained. */
export interface GroupDropped {
  readonly type: 'GroupDropped';
  readonly runId: string;
  readonly groupId: string;
  readonly reason: string;
  readonly detail: string | null;
}

/** Manifest of a scored group, after its rollouts. */
export interface GroupScored {
  readonly type: 'GroupScored';
  readonly runId: string;
  readonly groupId: string;
  readonly taskId: string;
  readonly harness: string;
  readonly rollouts: readonly ScoredRollout[];
  readonly size: number;
  readonly mean: number;
  readonly std: number;
  /** mean reward of settled rollouts that were not scored */
  readonly excludedMeanReward: number | null;
}

/** A model call that gave no sample. */
export interface ModelCallFailed {
  readonly type: 'ModelCallFailed';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly callId: string;
  readonly seq: number;
  readonly reason: string;
  readonly detail: string | null;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** One model call, token for token, as a delta to the call it extends. */
export interface ModelCalled {
  readonly type: 'ModelCalled';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly callId: string;
  /** order of the call within the attempt */
  readonly seq: number;
  readonly taskId: string;
  readonly harness: string;
  /** null opens a root */
  readonly parentCallId: string | null;
  /** tokens of the history it extends */
  readonly prefixTokenCount: number;
  /** xxh64 of that history, hex */
  readonly prefixDigest: string | null;
  /** input ids after that history */
  readonly envTokenIds: Int32Array;
  readonly sampledTokenIds: Int32Array;
  /** natural log, one per sampled id */
  readonly rolloutLogprobs: Float32Array;
  readonly policySpans: readonly PolicySpan[];
  /** stop, length, tool_calls, abort or content_filter */
  readonly finishReason: string;
  /** of the sampling that was used */
  readonly temperature: number;
  readonly topP: number;
  /** -1: off */
  readonly topK: number;
  /** 0: not known */
  readonly maxTokens: number;
  /** JSON of what the harness asked for */
  readonly requestedSampling: string | null;
  readonly logprobsMode: string;
  /** why the engine did not sample freely */
  readonly constraint: string | null;
  readonly dialect: string;
  readonly threadKey: string | null;
  readonly agentId: string | null;
  readonly parentAgentId: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** messages added since the parent */
  readonly newMessages: readonly Message[];
  readonly response: Message | null;
  readonly contextDigest: string | null;
  readonly context: CallContext | null;
  readonly attribution: readonly Attribution[];
  /** history tokens the template would have written otherwise */
  readonly templateDivergence: number;
  readonly requestedAt: number;
  readonly firstByteAt: number;
  readonly completedAt: number;
  readonly engineMs: number;
}

/** The trainer published a policy version. */
export interface PolicyPublished {
  readonly type: 'PolicyPublished';
  readonly runId: string;
  readonly version: string;
  /** last batch number it was trained on; -1 for the first policy */
  readonly trainedThroughBatch: number | null;
  readonly weights: BlobRef | null;
  readonly metrics: Readonly<Record<string, number>>;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** The verifier scored an attempt. */
export interface RewardGiven {
  readonly type: 'RewardGiven';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly reward: number;
  readonly criteria: Readonly<Record<string, number>>;
  /** graderFailure when the agent broke the grader */
  readonly flag: string | null;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** No further attempt will be made. */
export interface RolloutAbandoned {
  readonly type: 'RolloutAbandoned';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly reason: string;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** A rollout that leaves nothing to train. */
export interface RolloutDropped {
  readonly type: 'RolloutDropped';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly attempt: number | null;
  readonly reason: string;
  readonly detail: string | null;
}

/** The harness of an attempt is gone. */
export interface RolloutEnded {
  readonly type: 'RolloutEnded';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  /** completed, agentTimeout, harnessError or infrastructureFailure */
  readonly outcome: string;
  readonly exitCode: number | null;
  readonly detail: string | null;
  /** final workspace */
  readonly workspace: BlobRef | null;
  readonly wallMs: number | null;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** The dispatcher wants one rollout of a group. */
export interface RolloutRequested {
  readonly type: 'RolloutRequested';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly taskId: string;
  readonly harness: string;
  readonly groupSize: number;
  /** place in the group */
  readonly index: number;
  /** above 0: a retry of the same rollout */
  readonly attempt: number;
  /** the task prompt; finds the main thread */
  readonly instruction: string | null;
  /** train or eval */
  readonly purpose: string;
  /** policy step it was requested at */
  readonly step: number | null;
  readonly pinnedVersion: string | null;
  readonly task: BlobRef | null;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** A pruned tree with its reward and advantage. */
export interface RolloutScored {
  readonly type: 'RolloutScored';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly attempt: number;
  readonly taskId: string;
  readonly harness: string;
  readonly nodes: readonly TreeNode[];
  /** node indices, one trajectory each */
  readonly keptLeaves: readonly number[];
  readonly reward: number;
  /** null for PPO */
  readonly advantage: number | null;
  readonly group: GroupStats;
  readonly tokens: TokenTotals;
}

/** The proxy counted the calls of an attempt; later ones are late. */
export interface RolloutSealed {
  readonly type: 'RolloutSealed';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  /** ModelCalled + ModelCallFailed */
  readonly callCount: number;
  readonly callIds: readonly string[] | null;
  /** calls whose reply never reached the harness */
  readonly undelivered: readonly string[];
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** The one decision which attempt counts. */
export interface RolloutSettled {
  readonly type: 'RolloutSettled';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** null: none */
  readonly scoredAttempt: number | null;
  readonly outcome: string;
  readonly attempts: readonly AttemptOutcome[];
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** A sandbox started the harness. */
export interface RolloutStarted {
  readonly type: 'RolloutStarted';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly harness: string;
  /** bubblewrap, docker, kubernetes or process */
  readonly isolation: string;
  readonly tokenizerDigest: string | null;
  readonly templateDigest: string | null;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** First record of a run: its configuration. */
export interface RunConfigured {
  readonly type: 'RunConfigured';
  readonly runId: string;
  /** RunConfig as canonical JSON */
  readonly config: string;
  /** sha256 of config, hex */
  readonly digest: string;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** Nothing more will be requested or trained in this run. */
export interface RunEnded {
  readonly type: 'RunEnded';
  readonly runId: string;
  readonly reason: string;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** Manifest of a batch, after its samples; checkpoint of the second hop. */
export interface TrainingBatchCut {
  readonly type: 'TrainingBatchCut';
  readonly batchId: string;
  readonly runId: string;
  readonly batchNumber: number;
  readonly groups: readonly string[];
  readonly samples: number;
  readonly tokens: TokenTotals;
  /** samples by harness */
  readonly harnesses: Readonly<Record<string, number>>;
  readonly staleGroups: readonly string[];
  readonly policyStep: number;
  /** the newest versions, oldest first; the last one has policyStep */
  readonly policyVersions: readonly string[];
  readonly trainedThroughBatch: number;
  /** offset in scored-groups after which nothing is consumed by this or an earlier batch */
  readonly inputOffset: number;
  /** groups scored before inputOffset and not yet cut */
  readonly pendingGroups: readonly string[];
  readonly lossAggregation: string;
  /** L of the constant aggregation */
  readonly lossConstant: number | null;
  readonly algorithm: string;
}

/** One rollout of a training batch: its pruned tree and everything its loss needs. */
export interface TrainingSample {
  readonly type: 'TrainingSample';
  readonly batchId: string;
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  readonly attempt: number;
  readonly taskId: string;
  readonly harness: string;
  readonly nodes: readonly TreeNode[];
  /** node indices, one trajectory each */
  readonly keptLeaves: readonly number[];
  readonly reward: number;
  /** null for PPO */
  readonly advantage: number | null;
  readonly group: GroupStats;
  readonly tokens: TokenTotals;
}

/** Every call of an attempt and what became of it. */
export interface TreeJudged {
  readonly type: 'TreeJudged';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly segments: number;
  /** main leaves before pruning */
  readonly leaves: number;
  readonly verdicts: readonly CallVerdict[];
  /** why no main thread was found */
  readonly diagnostic: string | null;
}

/** The verifier could not score an attempt. */
export interface VerificationFailed {
  readonly type: 'VerificationFailed';
  readonly runId: string;
  readonly groupId: string;
  readonly rolloutId: string;
  /** retry number of the rollout, from 0 */
  readonly attempt: number;
  readonly reason: string;
  /** when it happened, epoch ms; 0 in recordings that do not say */
  readonly at: number;
}

/** Every event of the log. */
export type EspalierEvent =
  | DeadLettered
  | GroupClosed
  | GroupDropped
  | GroupScored
  | ModelCallFailed
  | ModelCalled
  | PolicyPublished
  | RewardGiven
  | RolloutAbandoned
  | RolloutDropped
  | RolloutEnded
  | RolloutRequested
  | RolloutScored
  | RolloutSealed
  | RolloutSettled
  | RolloutStarted
  | RunConfigured
  | RunEnded
  | TrainingBatchCut
  | TrainingSample
  | TreeJudged
  | VerificationFailed;

/** The name of an event. */
export type EventType = EspalierEvent['type'];

/** All event names, in alphabetical order. */
export const EVENT_TYPES = [
  'DeadLettered',
  'GroupClosed',
  'GroupDropped',
  'GroupScored',
  'ModelCallFailed',
  'ModelCalled',
  'PolicyPublished',
  'RewardGiven',
  'RolloutAbandoned',
  'RolloutDropped',
  'RolloutEnded',
  'RolloutRequested',
  'RolloutScored',
  'RolloutSealed',
  'RolloutSettled',
  'RolloutStarted',
  'RunConfigured',
  'RunEnded',
  'TrainingBatchCut',
  'TrainingSample',
  'TreeJudged',
  'VerificationFailed',
] as const satisfies readonly EventType[];
