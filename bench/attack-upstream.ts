/** A provider that attacks whoever calls it: packed nonsense, bombs, and floods of frames, by the model that is asked for. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const mebibyte = 1024 ** 2;
const brackets = gzipSync(Buffer.alloc(10 * mebibyte, '['));
const bomb = brotliCompressSync(Buffer.alloc(200 * mebibyte, ' '), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
});
const packedEvents = gzipSync(Buffer.alloc(200 * mebibyte, ':\n'));

const answers: Readonly<Record<string, [type: string, encoding: string, body: Buffer]>> = {
  brackets: ['application/json', 'gzip', brackets],
  bomb: ['application/json', 'br', bomb],
  events: ['text/event-stream', 'gzip', packedEvents],
};

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const model = /"model":"([a-z]+)"/.exec(Buffer.concat(chunks).toString('latin1', 0, 1_000))?.[1] ?? '';
  const [type, encoding, body] = answers[model] ?? ['application/json', 'identity', Buffer.from('{"choices":[]}')];
  response.writeHead(200, { 'content-type': type, 'content-encoding': encoding, 'content-length': body.length });
  response.end(body);
});

/** A text frame as a server writes it. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? Buffer.of(0x81, payload.length) : Buffer.of(0x81, 126, 0, 0);
  if (payload.length >= 126) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

const done = JSON.stringify({ type: 'response.done', response: { id: 'r', status: 'completed', usage: {} } });
const floods: Readonly<Record<string, Buffer>> = {
  tiny: Buffer.concat(Array<Buffer>(500_000).fill(frame(''))),
  done: Buffer.concat(Array<Buffer>(50_000).fill(frame(done))),
};

server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  const flood = floods[/model=([a-z]+)/.exec(request.url ?? '')?.[1] ?? ''];
  if (!flood) return;
  const pour = () => {
    while (!socket.destroyed && socket.write(flood));
    socket.once('drain', pour);
  };
  pour();
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') process.stdout.write(`listening at ${address.port}\n`);
});
