import type { Blobs } from '../../infra/blobs/blobs.ts';
import type { EventLog } from '../../infra/log/eventLog.ts';
import { follow } from '../../infra/log/follow.ts';
import type {
  EspalierEvent,
  PolicyPublished,
  TrainingBatchCut,
  TrainingSample,
} from '../../schemas/generated/events.ts';

/** What learns: built from a saved state, it takes batches in order and can be saved after each. */
export interface Learner {
  /** Trains on one batch; metrics by name. Deterministic in state and batch. */
  train(samples: readonly TrainingSample[], manifest: TrainingBatchCut): Readonly<Record<string, number>>;
  /** Weights and optimiser state, enough to go on exactly from here. */
  save(): Uint8Array;
}

/** A trainer at work. */
export interface Trainer {
  readonly finished: Promise<void>;
  close(): Promise<void>;
}

/**
 * Trains one run: reads `training-batches` only (and its own publications, to know where it stands),
 * and publishes a version after each batch. The version is in the log before any engine has it, so no
 * call names a version that nobody published. A batch that a crash interrupted is trained again from
 * the same state, with the same result.
 */
export function startTrainer(options: {
  readonly log: EventLog;
  readonly blobs: Blobs;
  readonly runId: string;
  readonly createLearner: (saved: Uint8Array | null) => Learner;
  /** Gives engines the weights of a version. */
  readonly push: (published: PolicyPublished) => Promise<void>;
  readonly now: () => number;
}): Trainer {
  const { log, blobs, runId, createLearner, push, now } = options;
  const stop = new AbortController();
  let last: PolicyPublished | undefined;
  let learner: Learner | undefined;
  let ended = false;
  const samples = new Map<string, TrainingSample[]>();
  const cut = new Map<number, TrainingBatchCut>();

  const fold = (event: EspalierEvent): void => {
    if (!('runId' in event) || event.runId !== runId) return;
    switch (event.type) {
      case 'PolicyPublished':
        if (
          event.trainedThroughBatch !== null &&
          event.trainedThroughBatch > (last?.trainedThroughBatch ?? -2)
        )
          last = event;
        return;
      case 'TrainingSample': {
        const batch = samples.get(event.batchId) ?? [];
        // A consumer that is told twice keeps one: ids are derived, so a repeat is known.
        if (!batch.some((s) => s.rolloutId === event.rolloutId)) batch.push(event);
        samples.set(event.batchId, batch);
        return;
      }
      case 'TrainingBatchCut':
        cut.set(event.batchNumber, event);
        return;
      case 'RunEnded':
        ended = true;
        return;
    }
  };
  const publish = async (batch: number, metrics: Readonly<Record<string, number>>): Promise<void> => {
    const weights = await blobs.put(learner!.save());
    const published: PolicyPublished = {
      type: 'PolicyPublished',
      runId,
      version: String(batch + 1),
      trainedThroughBatch: batch,
      weights,
      metrics,
      at: now(),
    };
    await log.append([{ topic: 'scored-groups', event: published }]);
    last = published;
    await push(published);
  };
  const forget = (manifest: TrainingBatchCut): void => {
    samples.delete(manifest.batchId);
    cut.delete(manifest.batchNumber);
  };
  const work = async (): Promise<void> => {
    if (last === undefined) {
      learner = createLearner(null);
      await publish(-1, {});
    } else if (learner === undefined) {
      if (last.weights === null) throw new Error(`version ${last.version} was published without weights`);
      learner = createLearner(await blobs.get(last.weights));
      await push(last);
    }
    for (const manifest of [...cut.values()])
      if (manifest.batchNumber <= last!.trainedThroughBatch!) forget(manifest);
    for (;;) {
      const manifest = cut.get(last!.trainedThroughBatch! + 1);
      if (manifest === undefined || stop.signal.aborted) break;
      const metrics = learner.train(samples.get(manifest.batchId) ?? [], manifest);
      await publish(manifest.batchNumber, metrics);
      forget(manifest);
    }
    if (ended) stop.abort();
  };
  const finished = follow({
    log,
    topics: ['scored-groups', 'training-batches'],
    signal: stop.signal,
    onEvents: (events) => events.forEach(fold),
    onCaughtUp: work,
  });
  return {
    finished,
    close: async () => {
      stop.abort();
      await finished.catch(() => {});
    },
  };
}
