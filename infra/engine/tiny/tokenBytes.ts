// The bytes of a growing sequence of tokens, and which token starts at a byte.

export class TokenBytes {
  bytes = new Uint8Array(8192);
  /** Token id that starts at this byte, or -1 inside a token. */
  tokenAt = new Int32Array(8192);
  length = 0;

  push(id: number, bytes: Uint8Array): void {
    const end = this.length + bytes.length;
    if (end + 1 > this.bytes.length) this.grow(end + 1);
    for (let i = 0; i < bytes.length; i++) {
      this.bytes[this.length + i] = bytes[i] as number;
      this.tokenAt[this.length + i] = i === 0 ? id : -1;
    }
    this.length = end;
    this.tokenAt[end] = -1;
    this.bytes[end] = 0;
  }

  private grow(needed: number): void {
    const size = Math.max(needed, this.bytes.length * 2);
    const bytes = new Uint8Array(size);
    const tokenAt = new Int32Array(size);
    bytes.set(this.bytes);
    tokenAt.set(this.tokenAt);
    this.bytes = bytes;
    this.tokenAt = tokenAt;
  }
}
