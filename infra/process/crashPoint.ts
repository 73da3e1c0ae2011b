/**
 * A named place before or after a durable step, given to every part that has one. Does nothing; a
 * test passes a function that kills the process there.
 */
export type CrashPoint = (name: CrashPointName) => void | Promise<void>;

/** Every named crash point, in the order in which they occur. */
export const CRASH_POINTS = [
  'proxy:before-append',
  'proxy:after-append',
  'proxy:before-seal',
  'proxy:after-seal',
  'first-hop:before-commit',
  'first-hop:after-commit',
  'second-hop:before-commit',
  'second-hop:after-commit',
  'archive:after-intent',
  'archive:after-insert',
  'archive:after-commit',
] as const;

/** The name of a crash point. */
export type CrashPointName = (typeof CRASH_POINTS)[number];
