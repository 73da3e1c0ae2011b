/** What a look at one thing found. */
export interface CheckResult {
  readonly name: string;
  /** `missing` ends doctor with exit code 3; `limited` only takes a feature away. */
  readonly state: 'ok' | 'limited' | 'missing';
  /** What is there, or what is not. */
  readonly detail: string;
  /** What to do about it, where something is to be done. */
  readonly fix?: string;
}

/** Looks at one thing; never throws. */
export type Check = () => Promise<CheckResult>;
