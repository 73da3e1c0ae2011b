/** How the command line ends on an error: 2 usage or bad input, 3 something it needs is missing, 130 interrupted. */
type Exit = 1 | 2 | 3 | 130;

interface ErrorKind {
  readonly exit: Exit;
  /** Whether the same action may succeed later without any change. */
  readonly retryable: boolean;
  /** What usually mends it; a thrower may give a more exact one. */
  readonly fix: string;
}

/** Every error code of Espalier. Codes are stable: scripts may match them. */
export const ERRORS = {
  E_USAGE: { exit: 2, retryable: false, fix: 'Run `espalier help` for the commands and their options.' },
  E_CONFIG: {
    exit: 2,
    retryable: false,
    fix: 'Run `espalier config show` for every key, its default and where its value came from.',
  },
  E_EVENT_JSON: { exit: 2, retryable: false, fix: 'Correct the named field of the named line.' },
  E_EVENT_UNKNOWN_TYPE: { exit: 2, retryable: false, fix: 'Use one of the event names of docs/events.md.' },
  E_EVENT_DECODE: {
    exit: 2,
    retryable: false,
    fix: 'The record was written under an unknown schema or is damaged; look at the dead-letters topic.',
  },
  E_EVENT_ENCODE: {
    exit: 1,
    retryable: false,
    fix: 'This is a fault of the writer: an event must match its schema; the message names the field.',
  },
  E_SCHEMA_INCOMPATIBLE: {
    exit: 2,
    retryable: false,
    fix: 'Add fields with defaults only; never remove, rename or retype one.',
  },
  E_PORT_IN_USE: { exit: 3, retryable: true, fix: 'Choose another port, or stop the program that holds it.' },
  E_DATA_DIR_VERSION: {
    exit: 2,
    retryable: false,
    fix: 'Use another --data-dir, or the Espalier version that wrote this one.',
  },
  E_DATA_DIR_OWNED: { exit: 3, retryable: true, fix: 'Stop the running owner, or use another --data-dir.' },
  E_DATA_DIR_WRITE: {
    exit: 3,
    retryable: true,
    fix: 'Make the folder writable and the disk not full, or use another --data-dir.',
  },
  E_DATA_DIR_EMPTY: {
    exit: 2,
    retryable: false,
    fix: 'Run `espalier demo` first, or give the --data-dir of an earlier run.',
  },
  E_LOG_PARTITIONS: {
    exit: 2,
    retryable: false,
    fix: 'Partition counts never change: use the count the log was created with, or a new data folder.',
  },
  E_LOG_CONFLICT: {
    exit: 1,
    retryable: true,
    fix: 'Another owner committed first: restart from the committed offsets.',
  },
  E_LOG_RECORD_TOO_LARGE: {
    exit: 2,
    retryable: false,
    fix: 'Raise the record limit, or shorten the rollouts.',
  },
  E_BLOB_MISSING: {
    exit: 3,
    retryable: true,
    fix: 'Check that the blob store is the one the record was written with.',
  },
  E_BLOB_CORRUPT: {
    exit: 1,
    retryable: false,
    fix: 'The stored bytes do not match their digest; restore them from a copy.',
  },
  E_CHDB_MISSING: {
    exit: 3,
    retryable: false,
    fix: 'Install it with `npm install chdb` (linux and macOS, x64 and arm64).',
  },
  E_SQL: {
    exit: 2,
    retryable: false,
    fix: 'Correct the statement; `espalier sql "SHOW TABLES"` lists the tables.',
  },
  E_SQL_READ_ONLY: { exit: 2, retryable: false, fix: 'Only reading statements are allowed.' },
  E_ENGINE: { exit: 3, retryable: true, fix: 'Check that the inference engine is up and reachable.' },
  E_ENGINE_REPLY: {
    exit: 1,
    retryable: true,
    fix: 'The engine returned no usable token ids or log-probabilities; see docs/errors.md.',
  },
  E_MODEL_DIR: {
    exit: 3,
    retryable: false,
    fix: 'Point to a folder with tokenizer.json and tokenizer_config.json.',
  },
  E_TEMPLATE: {
    exit: 2,
    retryable: false,
    fix: 'The chat template failed its self-test; see docs/errors.md for what it must do.',
  },
  E_TOKEN_INVALID: {
    exit: 2,
    retryable: false,
    fix: 'Use the rollout token that the dispatcher issued for this attempt.',
  },
  E_TOKEN_EXPIRED: {
    exit: 2,
    retryable: false,
    fix: 'The rollout outlived its token; raise the wall limit.',
  },
  E_ROLLOUT_SEALED: {
    exit: 2,
    retryable: false,
    fix: 'The rollout is finished; its calls are no longer served.',
  },
  E_REQUEST: { exit: 2, retryable: false, fix: 'Correct the request as the message says.' },
  E_CONTEXT_LENGTH: {
    exit: 2,
    retryable: false,
    fix: 'Let the harness compact its history earlier, or raise maxContext if the model allows it.',
  },
  E_REQUEST_TOO_LARGE: { exit: 2, retryable: false, fix: 'Shorten the request: the limit is 32 MB.' },
  E_TASK_MISSING: { exit: 2, retryable: false, fix: 'Give a folder that holds a task.yaml.' },
  E_TASK_INVALID: {
    exit: 2,
    retryable: false,
    fix: 'Correct the named field of task.yaml; docs/tasks.md shows all of them.',
  },
  E_WORKSPACE: {
    exit: 1,
    retryable: false,
    fix: 'Keep the workspace below the size limit and free of links that leave it.',
  },
  E_HARNESS_UNKNOWN: { exit: 2, retryable: false, fix: 'Run `espalier harness list` for the known ones.' },
  E_HARNESS_MISSING: { exit: 3, retryable: false, fix: 'Run `espalier harness install NAME` first.' },
  E_HARNESS_INSTALL: {
    exit: 3,
    retryable: true,
    fix: 'Check that the npm registry can be reached and try again.',
  },
  E_ISOLATION: {
    exit: 3,
    retryable: false,
    fix: 'Install bubblewrap, or ask for a plain process with `--sandbox process`.',
  },
  E_SANDBOX_START: {
    exit: 3,
    retryable: true,
    fix: 'Run `espalier doctor`; it tries the isolation and says what is missing.',
  },
  E_RUN_UNKNOWN: {
    exit: 2,
    retryable: false,
    fix: 'Run `espalier runs list` for the runs of this data folder.',
  },
  E_GROUP_UNKNOWN: {
    exit: 2,
    retryable: false,
    fix: 'Append the requests of a group before anything else of it; see the dead-letters topic.',
  },
  E_ROLLOUT_UNKNOWN: {
    exit: 2,
    retryable: false,
    fix: 'Run `espalier runs show RUN` for the rollouts of a run.',
  },
  E_TRAINER: {
    exit: 1,
    retryable: true,
    fix: 'Its last lines stand above; run the same command again to go on.',
  },
  E_TREE_INVARIANT: {
    exit: 1,
    retryable: false,
    fix: 'This is a fault of Espalier: keep the data folder and report it.',
  },
  E_INTERNAL: {
    exit: 1,
    retryable: false,
    fix: 'This is a fault of Espalier: run again with --log-level debug and report what it prints.',
  },
  E_INTERRUPTED: { exit: 130, retryable: true, fix: 'Run the same command again to go on.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** A code of the error table. */
export type ErrorCode = keyof typeof ERRORS;

/** The one error class: a code, what happened, and what to do about it. */
export class EspalierError extends Error {
  readonly code: ErrorCode;
  readonly fix: string;

  /**
   * @param code entry of the error table
   * @param message what happened, in one line, with the names that matter
   * @param options.fix what to do, where it can be said better than in the table
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly fix?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EspalierError';
    this.code = code;
    this.fix = options.fix ?? ERRORS[code].fix;
  }

  /** The public form printed by `--json` and sent by the control listener. */
  toJSON(): { readonly error: { readonly code: ErrorCode; readonly message: string; readonly fix: string } } {
    return { error: { code: this.code, message: this.message, fix: this.fix } };
  }
}
