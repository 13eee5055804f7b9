/** Bodies of any size stream through: both directions, every byte, and never more of them in memory than a few buffers hold. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type OpenEndedProvider, startOpenEnded } from '../providers/open-ended.ts';
import { openCall, rawCall } from '../raw-client.ts';
import { startWorld, type World } from '../world.ts';

let provider: OpenEndedProvider;
let world: World;
let key: string;

beforeAll(async () => {
  provider = await startOpenEnded();
  world = await startWorld({}, { MAX_REQUEST_BODY_BYTES: '1000000' });
  await world.saveProvider('a', 'openai', provider);
  key = world.gateway.workspaceKey;
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});
afterEach(() => {
  expect(world.gateway.faults).toEqual([]);
});

const megabyte = 1024 * 1024;
const size = 50 * megabyte;
/** What may be under way at once in all the buffers between the two ends; the four sockets alone may hold some 20 MB. */
const bound = 40 * megabyte;
const endless = 200 * megabyte;
const piece = Buffer.from(Array.from({ length: 64 * 1024 }, (_, index) => (index * 7) % 251));
const headers = () => ({ 'x-gw-api-key': key, 'x-gw-provider': '@a', 'content-type': 'application/octet-stream' });

const expectedDigest = (() => {
  const hash = createHash('sha256');
  for (let sent = 0; sent < size; sent += piece.length) hash.update(piece);
  return hash.digest('hex');
})();

const digestOf = async (request: AsyncIterable<Uint8Array>): Promise<{ size: number; digest: string }> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    hash.update(chunk);
  }
  return { size, digest: hash.digest('hex') };
};

/** Writes until the other side takes no more, and tells how much it took. */
const untilStuck = async (write: (chunk: Buffer) => boolean, drained: () => Promise<void>): Promise<number> => {
  let written = 0;
  while (written < endless) {
    written += piece.length;
    if (write(piece)) continue;
    // What is on its way arrives in far less; then nobody is reading any more.
    const moved = await Promise.race([drained().then(() => true), Bun.sleep(500).then(() => false)]);
    if (!moved) break;
  }
  return written;
};

const routes = { passthrough: '/v1/uploads/1/parts', 'a file upload': '/v1/files' };

for (const [name, path] of Object.entries(routes)) {
  describe(`${name}, to the provider`, () => {
    test('50 MB arrive as they were sent', async () => {
      const arrived = Promise.withResolvers<{ size: number; digest: string }>();
      provider.answer(async (request, response) => {
        arrived.resolve(await digestOf(request));
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"file-1"}');
      });
      const pieces = Array<Buffer>(size / piece.length).fill(piece);
      const reply = await rawCall(world.gateway.url + path, { headers: headers(), body: pieces });
      expect([reply.status, reply.body.toString()]).toEqual([200, '{"id":"file-1"}']);
      expect(await arrived.promise).toEqual({ size, digest: expectedDigest });
    });

    test('a provider that does not read holds the client back', async () => {
      const held = Promise.withResolvers<IncomingMessage>();
      provider.answer((request) => held.resolve(request.pause()));
      const upload = openCall(world.gateway.url + path, headers());
      const written = await untilStuck(
        (chunk) => upload.write(chunk),
        () => new Promise((resolve) => upload.once('drain', resolve)),
      );
      expect(written).toBeLessThan(bound);
      upload.destroy();
      // That the client left stands behind all it sent.
      (await held.promise).resume();
    });
  });
}

describe('from the provider', () => {
  test('50 MB arrive as they were sent', async () => {
    provider.answer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (let sent = 0; sent < size; sent += piece.length) {
        if (!response.write(piece)) await new Promise<void>((resolve) => response.once('drain', resolve));
      }
      response.end();
    });
    for (const path of ['/v1/files/file-1/content', '/v1/downloads/1']) {
      const response = await fetch(world.gateway.url + path, { headers: headers() });
      expect(await digestOf(response.body ?? new ReadableStream())).toEqual({ size, digest: expectedDigest });
    }
  });

  test('a client that does not read holds the provider back', async () => {
    const written = Promise.withResolvers<number>();
    provider.answer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      written.resolve(
        await untilStuck(
          (chunk) => response.write(chunk),
          () => new Promise((resolve) => response.once('drain', resolve)),
        ),
      );
    });
    const download = openCall(`${world.gateway.url}/v1/downloads/1`, headers());
    download.on('response', (response) => response.pause());
    download.end();
    expect(await written.promise).toBeLessThan(bound);
    download.destroy();
  });
});

describe('bodies that must be read', () => {
  const large = Buffer.from(JSON.stringify({ model: '@a/m', messages: 'x'.repeat(1_100_000) }));
  const asJson = () => ({ 'x-gw-api-key': key, 'content-type': 'application/json' });

  test('over the limit are refused, whether or not they tell their length', async () => {
    for (const path of ['/v1/chat/completions', '/v1/anything']) {
      for (const body of [large, [large.subarray(0, 600_000), large.subarray(600_000)]]) {
        const reply = await rawCall(world.gateway.url + path, { headers: asJson(), body });
        expect([reply.status, JSON.parse(reply.body.toString()).error.code]).toEqual([413, 'body_too_large']);
      }
    }
  });
});
