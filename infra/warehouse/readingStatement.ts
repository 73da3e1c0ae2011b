import { EspalierError } from '../../schemas/errors.ts';

const READING = /^(select|with|show|describe|desc|explain|exists|values|from)\b/i;

/** Functions that reach outside the archive: other files, other hosts, other programs. */
const OUTSIDE =
  /\b(file|filecluster|url|urlcluster|s3|s3cluster|gcs|hdfs|hdfscluster|azureblobstorage|azureblobstoragecluster|remote|remotesecure|cluster|clusterallreplicas|executable|mysql|postgresql|mongodb|redis|sqlite|jdbc|odbc|arrowflight|iceberg\w*|deltalake\w*|hudi\w*|ytsaurus|python|dictionary)\s*\(/i;

/**
 * A statement as it is sent: one, without a closing semicolon. The store itself refuses writes on the
 * reading connection; this refuses what it would allow: writing result files, reading other sources.
 * @throws EspalierError E_SQL, E_SQL_READ_ONLY
 */
export function readingStatement(sql: string): string {
  const statement = sql.trim().replace(/(\s*;)+$/, '');
  const bare = withoutLiterals(statement).trim();
  if (bare === '') throw new EspalierError('E_SQL', 'the statement is empty');
  if (bare.includes(';')) throw new EspalierError('E_SQL', 'only one statement at a time');
  if (!READING.test(bare.replace(/^\(+\s*/, ''))) {
    const word = bare.split(/\s+/, 1)[0];
    throw new EspalierError('E_SQL_READ_ONLY', `${word} is not a reading statement`);
  }
  if (/\binto\s+outfile\b/i.test(bare)) {
    throw new EspalierError('E_SQL_READ_ONLY', 'INTO OUTFILE writes a file', {
      fix: 'Print the result with --json and redirect it.',
    });
  }
  const outside = OUTSIDE.exec(bare);
  if (outside !== null) {
    throw new EspalierError('E_SQL_READ_ONLY', `${outside[1]}() reads from outside the archive`);
  }
  return statement;
}

/** Text with comments blanked and the inside of string literals and quoted names left out. */
function withoutLiterals(sql: string): string {
  const part = /'(?:\\.|''|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|--[^\n]*|\/\*[\s\S]*?\*\//g;
  return sql.replace(part, (literal) => (/^['"`]/.test(literal) ? `${literal[0]}${literal[0]}` : ' '));
}
