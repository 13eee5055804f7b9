/** A client of an HTTP server that says exactly what it is told to, and shows exactly what it is answered. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface HeardReply {
  status: number;
  /** In lower case; repeated ones joined by a line break. */
  headers: Record<string, string>;
  body: string;
}

export interface HttpClient {
  socket: Socket;
  say(...pieces: (string | Uint8Array)[]): void;
  /** The next reply; `bodiless` where none has a body, as to HEAD. Rejects when the connection ends before. */
  reply(bodiless?: boolean): Promise<HeardReply>;
  /** What came and was not taken as a reply, up to now. */
  readonly rest: string;
  /** How the server closed its side, once it has. */
  readonly ended: Promise<'in order' | 'broken'>;
  /** All that ever comes, up to the end. */
  all(): Promise<string>;
  /** Closes in order. */
  leave(): void;
  /** Without a word. */
  reset(): void;
}

/** Over TLS nobody's certificate is asked for. */
export async function httpClient(port: number, { tls = false, reads = true } = {}): Promise<HttpClient> {
  // Its own side stays open, so that it is seen when and how the server closes the other.
  const options = { port, host: '127.0.0.1', allowHalfOpen: true };
  const socket = tls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
  const pieces: Buffer[] = [];
  let over = false;
  let told = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<'in order' | 'broken'>();
  const tell = () => {
    told.resolve();
    told = Promise.withResolvers();
  };
  const end = (manner: 'in order' | 'broken') => {
    over = true;
    ended.resolve(manner);
    tell();
  };
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    tell();
  });
  socket.on('end', () => end('in order'));
  socket.on('error', () => end('broken'));
  socket.on('close', () => end('broken'));
  if (!reads) socket.pause();
  await new Promise<void>((resolve, reject) => {
    socket.once(tls ? 'secureConnect' : 'connect', resolve);
    socket.once('error', reject);
  });

  const received = (): Buffer => {
    if (pieces.length > 1) pieces.splice(0, pieces.length, Buffer.concat(pieces));
    return pieces[0] ?? Buffer.alloc(0);
  };
  const more = async (): Promise<void> => {
    if (over) throw new Error(`the connection ended behind ${JSON.stringify(received().toString('latin1'))}`);
    await told.promise;
  };

  return {
    socket,
    ended: ended.promise,
    get rest() {
      return received().toString('latin1');
    },
    say(...said) {
      for (const piece of said) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    },
    async reply(bodiless = false) {
      for (;;) {
        const heard = readReply(received(), bodiless, over);
        if (heard) {
          pieces.splice(0, pieces.length, received().subarray(heard.size));
          return heard.reply;
        }
        await more();
      }
    },
    async all() {
      await ended.promise;
      return received().toString('latin1');
    },
    leave: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** The first reply in these bytes, and how many are its own; null while it is not whole. */
function readReply(bytes: Buffer, bodiless: boolean, over: boolean): { reply: HeardReply; size: number } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\w '-]*$/.exec(line)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`no reply begins with ${JSON.stringify(line)}`);
  const headers: Record<string, string> = {};
  for (const field of lines) {
    const [, name = '', value = ''] = /^([\w-]+): (.*)$/.exec(field) ?? [];
    if (name === '') throw new Error(`no header: ${JSON.stringify(field)}`);
    headers[name] = name in headers ? `${headers[name]}\n${value}` : value;
  }
  const body = bytes.subarray(end + 4);
  const found = (text: string, size: number) => ({ reply: { status, headers, body: text }, size: end + 4 + size });
  if (bodiless || status < 200 || status === 204 || status === 304) return found('', 0);
  if (headers['transfer-encoding'] === 'chunked') {
    const chunks = readChunks(body);
    return chunks && found(chunks.text, chunks.size);
  }
  const length = headers['content-length'];
  if (length === undefined) return over ? found(body.toString('latin1'), body.length) : null;
  if (!/^\d+$/.test(length)) throw new Error(`no length: ${length}`);
  return body.length < Number(length) ? null : found(body.toString('latin1', 0, Number(length)), Number(length));
}

function readChunks(bytes: Buffer): { text: string; size: number } | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const end = line + 2 + size;
    if (bytes.length < end + 2) return null;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('no end of a chunk');
    if (size === 0) return { text: Buffer.concat(pieces).toString('latin1'), size: end + 2 };
    pieces.push(bytes.subarray(line + 2, end));
    at = end + 2;
  }
}
