import type { CommandOptions } from './command.ts';

/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  'data-dir': {
    type: 'string',
    placeholder: 'DIR',
    summary: 'the data folder (default ./.espalier, or ESPALIER_DATA_DIR)',
  },
  json: { type: 'boolean', summary: 'one JSON document on stdout and nothing else there' },
  'log-level': {
    type: 'string',
    placeholder: 'LEVEL',
    summary: 'error, warn, info or debug; logs go to stderr (or ESPALIER_LOG_LEVEL)',
  },
  help: { type: 'boolean', short: 'h', summary: 'this text' },
} as const satisfies CommandOptions;
