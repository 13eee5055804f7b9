/** Frames of a WebSocket by hand: those of a client, proper or not, and what a server answered. */
export const kinds = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

interface Oddities {
  final?: boolean;
  /** The three bits that nobody may use, as a number. */
  reserved?: number;
  /** Null sends it without one. */
  mask?: readonly number[] | null;
  /** In how many bytes the size is told, besides the first. */
  sizeIn?: 0 | 2 | 8;
  /** What is told instead of the payload's size. */
  size?: bigint;
}

const usualMask = [0x9a, 0x01, 0xff, 0x3c];

export function clientFrame(kind: number, content: string | Uint8Array = '', oddities: Oddities = {}): Buffer {
  const payload = Buffer.from(content);
  const { final = true, reserved = 0, mask = usualMask, size = BigInt(payload.length) } = oddities;
  const sizeIn = oddities.sizeIn ?? (size < 126n ? 0 : size < 65_536n ? 2 : 8);
  const told = Buffer.alloc(8);
  told.writeBigUInt64BE(size);
  const first = (final ? 0x80 : 0) | (reserved << 4) | kind;
  const second = (mask ? 0x80 : 0) | (sizeIn === 0 ? Number(size) : sizeIn === 2 ? 126 : 127);
  const masked = mask ? payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : payload;
  return Buffer.concat([Buffer.from([first, second]), told.subarray(8 - sizeIn), Buffer.from(mask ?? []), masked]);
}

/** The payload of a close frame. */
export const closePayload = (code: number, reason: string | Uint8Array = ''): Buffer =>
  Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);

interface ServerFrame {
  kind: number;
  payload: Buffer;
}

/** Throws where these bytes are not whole frames, as a server sends them. */
export function serverFrames(bytes: Buffer): ServerFrame[] {
  const frames: ServerFrame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes.readUInt8(at);
    const told = bytes.readUInt8(at + 1);
    if ((first & 0xf0) !== 0x80 || told > 127) throw new Error('a frame that no server sends');
    const start = at + (told < 126 ? 2 : told === 126 ? 4 : 10);
    const size = told < 126 ? told : told === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (start + size > bytes.length) throw new Error('a frame that is cut');
    if (told >= 126 && size < 126) throw new Error('a size that is too long');
    if (told === 127 && size < 65_536) throw new Error('a size that is too long');
    frames.push({ kind: first & 0x0f, payload: bytes.subarray(start, start + size) });
    at = start + size;
  }
  return frames;
}
