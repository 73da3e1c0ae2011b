// An adapter says, as data, how one harness is installed, configured and started. The harness is never patched.

export type Dialect = 'anthropic-messages' | 'openai-chat' | 'openai-responses';

/** What an adapter may use to configure one run. */
export interface HarnessContext {
  /** Model address of this rollout, without a trailing slash and without /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Model name to ask for; the policy serves every name. */
  readonly model: string;
  readonly instruction: string;
  readonly workspace: string;
  readonly home: string;
  /** Node binary that runs Espalier. */
  readonly nodePath: string;
  /** Where `installHarness` put this harness. */
  readonly installDir: string;
  /** More arguments for this run, before the instruction. */
  readonly extraArgs: readonly string[];
}

/** Exact npm packages; `node` first, the harness installed under it. */
export interface InstallRecipe {
  readonly package: string;
  readonly version: string;
  /** Exact version of the npm package `node` that runs it. */
  readonly node: string;
  /** Name of its command in node_modules/.bin. */
  readonly bin: string;
}

export interface HarnessAdapter {
  readonly name: string;
  readonly dialect: Dialect;
  readonly version: string;
  /** Null: comes with Espalier. */
  readonly install: InstallRecipe | null;
  /** Files to write before the start, path relative to the home directory. */
  files(context: HarnessContext): readonly { readonly path: string; readonly text: string }[];
  env(context: HarnessContext): Readonly<Record<string, string>>;
  argv(context: HarnessContext): readonly string[];
  /** Paths the harness itself lies in. */
  readOnly(context: HarnessContext): readonly string[];
  /** What an exit code says. Failed model calls are judged from the recorded calls, not from this. */
  exitMeaning(exitCode: number): 'completed' | 'harnessError';
  /** Whether a plain process is refused unless the user asked for it by name. */
  readonly isolationRequired: boolean;
}
