// The ustar format, as much as an archive needs: files, directories, symbolic links; pax records for names that
// do not fit. Everything that could differ between two machines (times, owners, modes but x) is fixed.
import { EspalierError } from '../../../schemas/errors.ts';
import type { ArchiveEntry } from './archiveEntry.ts';

const block = 512;
const encoder = new TextEncoder();

/** Encodes entries in the given order; the same entries give the same bytes. */
export function encodeTar(entries: readonly ArchiveEntry[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const name = encoder.encode(entry.kind === 'directory' ? `${entry.path}/` : entry.path);
    const link = entry.kind === 'symlink' ? encoder.encode(entry.target) : new Uint8Array();
    let pax = '';
    if (name.length > 100) pax += paxRecord('path', new TextDecoder().decode(name));
    if (link.length > 100) pax += paxRecord('linkpath', entry.kind === 'symlink' ? entry.target : '');
    if (pax !== '') {
      const bytes = encoder.encode(pax);
      parts.push(header(encoder.encode('pax'), 'x', 0o644, bytes.length, new Uint8Array()), padded(bytes));
    }
    const bytes = entry.kind === 'file' ? entry.bytes : new Uint8Array();
    const type = { file: '0', symlink: '2', directory: '5' }[entry.kind];
    const mode = entry.kind === 'file' && !entry.executable ? 0o644 : 0o755;
    parts.push(header(name.subarray(0, 100), type, mode, bytes.length, link.subarray(0, 100)), padded(bytes));
  }
  return concat([...parts, new Uint8Array(2 * block)]);
}

/**
 * Decodes an archive; file bytes are views into it.
 * @throws EspalierError E_WORKSPACE for a damaged archive or an entry of another type
 */
export function decodeTar(archive: Uint8Array): ArchiveEntry[] {
  const entries: ArchiveEntry[] = [];
  let pax = new Map<string, string>();
  for (let at = 0; ; ) {
    const head = archive.subarray(at, at + block);
    if (head.length < block) throw damaged('it ends in the middle');
    if (head.every((byte) => byte === 0)) {
      if (archive.length < at + 2 * block) throw damaged('it ends in the middle');
      return entries;
    }
    if (readOctal(head, 148, 8) !== checksum(head)) throw damaged(`wrong checksum at byte ${at}`);
    const size = readOctal(head, 124, 12);
    const bytes = archive.subarray(at + block, at + block + size);
    if (bytes.length < size) throw damaged('it ends in the middle');
    at += block + Math.ceil(size / block) * block;
    const type = String.fromCharCode(head[156] ?? 0);
    if (type === 'x') {
      pax = readPax(bytes);
      continue;
    }
    const path = (pax.get('path') ?? readText(head, 0, 100)).replace(/\/$/, '');
    const target = pax.get('linkpath') ?? readText(head, 157, 100);
    pax = new Map();
    if (type === '0') {
      entries.push({ kind: 'file', path, executable: (readOctal(head, 100, 8) & 0o100) !== 0, bytes });
    } else if (type === '5') entries.push({ kind: 'directory', path });
    else if (type === '2') entries.push({ kind: 'symlink', path, target });
    else throw damaged(`entry ${path} has the unsupported type ${JSON.stringify(type)}`);
  }
}

function header(name: Uint8Array, type: string, mode: number, size: number, link: Uint8Array): Uint8Array {
  const head = new Uint8Array(block);
  head.set(name, 0);
  const octal = (value: number, at: number, length: number): void =>
    head.set(encoder.encode(value.toString(8).padStart(length - 1, '0')), at);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  head.set(encoder.encode(type), 156);
  head.set(link, 157);
  head.set(encoder.encode('ustar\u000000'), 257);
  octal(0, 329, 8);
  octal(0, 337, 8);
  octal(checksum(head), 148, 8);
  return head;
}

// The checksum field itself counts as spaces.
function checksum(head: Uint8Array): number {
  return head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
}

// A record starts with its own length in decimal digits, those digits included.
function paxRecord(key: string, value: string): string {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function readPax(bytes: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const length = Number(new TextDecoder().decode(bytes.subarray(at, space)));
    if (space < 0 || !Number.isInteger(length) || length < 5)
      throw damaged('an extended header cannot be read');
    const record = new TextDecoder().decode(bytes.subarray(space + 1, at + length - 1));
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function readText(head: Uint8Array, at: number, length: number): string {
  const field = head.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

function readOctal(head: Uint8Array, at: number, length: number): number {
  const text = readText(head, at, length).trim();
  const value = Number.parseInt(text || '0', 8);
  if (!/^[0-7]*$/.test(text) || !Number.isSafeInteger(value)) throw damaged('a number cannot be read');
  return value;
}

function padded(bytes: Uint8Array): Uint8Array {
  if (bytes.length % block === 0) return bytes;
  const whole = new Uint8Array(Math.ceil(bytes.length / block) * block);
  whole.set(bytes);
  return whole;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function damaged(why: string): EspalierError {
  return new EspalierError('E_WORKSPACE', `the archive is damaged: ${why}`, {
    fix: 'Restore the archive from where it was written; its bytes have changed.',
  });
}
