import { avroType } from './codec.ts';

/**
 * Whether two versions of a schema can read each other's records, both ways: older and newer
 * services run side by side, so one direction is not enough.
 */
export function isFullyCompatible(older: object, newer: object): boolean {
  return whyIncompatible(older, newer) === null;
}

/** The first reason why one of two versions cannot read the other's records; null when both can. */
export function whyIncompatible(older: object, newer: object): string | null {
  try {
    const [a, b] = [avroType(older), avroType(newer)];
    a.createResolver(b);
    b.createResolver(a);
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}
