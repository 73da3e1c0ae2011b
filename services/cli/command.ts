import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';

/** One option in the form `util.parseArgs` takes, with what help prints about it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** One line for `espalier help <command>`. */
  readonly summary: string;
  /** What stands for the value in help, such as `N` or `FILE`. */
  readonly placeholder?: string;
  /** Accepted, but left out of help: another spelling of a listed option. */
  readonly hidden?: boolean;
}

/** Options by their long name, without the dashes. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** What an option can hold after parsing. */
export type OptionValue = string | boolean | readonly (string | boolean)[] | undefined;

/** All a command may touch of the outside; a test passes its own. */
export interface CommandContext {
  readonly values: Readonly<Record<string, OptionValue>>;
  readonly positionals: readonly string[];
  /** Whether one JSON document, and nothing else, belongs on stdout. */
  readonly json: boolean;
  /** Absolute path of the data folder. It need not exist. */
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** For streams of JSON lines only; everything else goes through `out` or `emit`. */
  readonly stdout: Writable;
  /** Whether stdout is a terminal that wants colour. */
  readonly colour: boolean;
  /** Columns of text: those of the terminal, 100 where there is none. */
  readonly columns: number;
  /** Columns of tables: those of the terminal; 0, no limit, where there is none. */
  readonly tableColumns: number;
  /** Prints lines for people on stdout; does nothing with `--json`. */
  out(text: string): void;
  /** Prints the one JSON document on stdout; does nothing without `--json`. */
  emit(document: unknown): void;
  /** Logs go to stderr: readable lines, or JSON lines with `--json`. */
  readonly log: Logger;
  /** Aborted by SIGINT and SIGTERM. A command ends soon after; the exit code is then 130. */
  readonly signal: AbortSignal;
}

/** A command of `espalier`. Heavy imports belong inside `run`, so that help stays quick. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** How it is called, without the program's name: `show <rolloutId> [--full]`. */
  readonly usage: string;
  /** Paragraphs for `espalier help <command>`. */
  readonly details?: string;
  /** Own options; `--data-dir`, `--json`, `--log-level` and `--help` are everybody's. */
  readonly options: CommandOptions;
  /** How many positional arguments are accepted; none where absent. */
  readonly positionals?: { readonly min: number; readonly max: number };
  /** Log level where neither flag nor environment says; `warn` where absent. */
  readonly logLevel?: 'info' | 'warn';
  /**
   * Does it.
   * @returns exit code: 0 good, 1 the result is negative
   * @throws EspalierError for everything a person can mend; its code decides the exit code
   */
  run(context: CommandContext): Promise<number>;
}
