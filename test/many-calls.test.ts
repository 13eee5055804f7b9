/** More calls at once than the runtime lets out by itself: none waits for the answer of another. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Served, saveProvider, serve } from './process.ts';
import * as openai from './providers/openai.ts';
import { startProvider } from './providers/simulated.ts';

const atOnce = 400;
const body = JSON.stringify({ model: '@many/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });

/** The first line of the answer. A socket of our own, because this process has the runtime's limit too. */
const call = ({ url, workspaceKey }: Served): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      resolve(bytes.toString().split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: gateway',
      `x-gw-api-key: ${workspaceKey}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  });

test(`${atOnce} calls are with their provider before the first of them is answered`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-many-'));
  const { promise: allThere, resolve } = Promise.withResolvers<void>();
  let there = 0;
  const provider = await startProvider(async (received, response) => {
    there += 1;
    if (there === atOnce) resolve();
    await allThere;
    await openai.says('Hello')(received, response);
  });
  const served = await serve({ GW_DATA_DIR: folder });
  await saveProvider(served, 'many', provider.url);
  const answers = await Promise.all(Array.from({ length: atOnce }, () => call(served)));
  expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 200 OK']));
  served.kill('SIGTERM');
  expect(await served.ended).toBe(0);
  await provider.stop();
  rmSync(folder, { recursive: true, force: true });
});
