import { expect, test } from 'bun:test';
import { IncomingBody } from './incoming-body.ts';

function watched() {
  const told: string[] = [];
  const flow = {
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
    abandon: () => told.push('abandon'),
  };
  return { told, body: new IncomingBody(flow) };
}

test.each([
  ['much', 64 * 1024, 5],
  ['many crumbs', 1, 1_100],
])('the server is held back when %s waits to be read, and let go on when half of it was', async (_, size, pieces) => {
  const { told, body } = watched();
  for (let piece = 0; piece < pieces; piece++) body.push(Buffer.alloc(size));
  expect(told).toEqual(['pause']);
  for (let piece = 0; piece < pieces; piece++) await body.read();
  expect(told).toEqual(['pause', 'resume']);
  const waiting = body.read();
  body.push(Buffer.from('more'));
  expect(String((await waiting).value)).toBe('more');
  expect(told).toEqual(['pause', 'resume']);
});

test('nobody touches the connection any more once the body has come whole', async () => {
  const { told, body } = watched();
  body.push(Buffer.alloc(300_000));
  body.complete();
  await body.read();
  await body.cancel();
  expect(told).toEqual(['pause']);
  expect(await body.read()).toEqual({ done: true });
});

test('cancelling forgets what waits, and leaves the connection', async () => {
  const { told, body } = watched();
  body.push(Buffer.from('x'));
  await body.cancel();
  expect(told).toEqual(['abandon']);
});
