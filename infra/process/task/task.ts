/** A checked task. Paths are absolute. */
export interface Task {
  readonly id: string;
  readonly instruction: string;
  /** Folder of the initial files; null: the workspace starts empty. */
  readonly workspace: string | null;
  readonly verifier: TaskVerifier;
  readonly limits: TaskLimits;
}

export interface TaskVerifier {
  /** Run in the folder of grader files. */
  readonly command: readonly string[];
  /** Folder of grader files, which the agent never sees; null: none. */
  readonly files: string | null;
  readonly timeoutSeconds: number;
  /** Without a reported number the exit code decides. */
  readonly exitCode: boolean;
  /** Weights by name; null: what the grader reports counts evenly. */
  readonly criteria: Readonly<Record<string, number>> | null;
  /** Reward from which on the task counts as passed. */
  readonly pass: number;
}

/** Limits the task asks for; the run's own limits bound them. */
export interface TaskLimits {
  readonly wallSeconds?: number;
  readonly memoryMb?: number;
  readonly processes?: number;
  readonly diskMb?: number;
}
