import { existsSync, readFileSync } from 'node:fs';

/** The version in package.json, found from the sources or from the build. */
export function programVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    const url = new URL(path, import.meta.url);
    if (existsSync(url)) return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
  }
  return 'unknown';
}
