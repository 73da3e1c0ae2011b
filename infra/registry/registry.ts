import type { EventType } from '../../schemas/generated/events.ts';

/** Gives each event schema an id for the wire framing, and finds a writer's schema by id. */
export interface Registry {
  /** Id of the current schema of an event, registered when new. @throws EspalierError E_SCHEMA_INCOMPATIBLE */
  idFor(type: EventType): Promise<number>;
  /** The schema document registered under an id, and the event it belongs to. */
  schemaFor(id: number): Promise<{ readonly type: EventType; readonly schema: object } | undefined>;
}
