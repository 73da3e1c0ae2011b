import { ERRORS } from '../../../schemas/errors.ts';

/** All error codes as a Markdown table, from the one error table. */
export function errorsTable(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { exit, retryable, fix }]) =>
      `| \`${code}\` | ${exit} | ${retryable ? 'yes' : 'no'} | ${fix.replaceAll('|', '\\|')} |`,
  );
  return ['| code | exit | may pass later | what usually mends it |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}
