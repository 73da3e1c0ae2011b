import { EspalierError } from './errors.ts';

const MAGIC = 0;
const HEADER = 5;

/** Confluent wire framing: a zero byte, the schema id as big-endian int32, the Avro body. */
export function frame(schemaId: number, body: Uint8Array): Uint8Array {
  const framed = new Uint8Array(HEADER + body.byteLength);
  framed[0] = MAGIC;
  new DataView(framed.buffer).setInt32(1, schemaId);
  framed.set(body, HEADER);
  return framed;
}

/** Schema id and body (a view) of a framed value. @throws EspalierError E_EVENT_DECODE */
export function unframe(value: Uint8Array): { readonly schemaId: number; readonly body: Uint8Array } {
  if (value.byteLength < HEADER || value[0] !== MAGIC) {
    throw new EspalierError('E_EVENT_DECODE', `a value of ${value.byteLength} bytes has no schema framing`);
  }
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  return { schemaId: view.getInt32(1), body: value.subarray(HEADER) };
}
