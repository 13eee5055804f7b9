import { expect, test } from 'bun:test';
import type { HeardReply, HttpClient } from '../../../test/servers/http-client.ts';
import { aMoment, bodyOf, get, httpWorld, inPieces, lines, post, said } from '../../../test/servers/http-world.ts';
import { WireFault } from '../fault.ts';
import type { Incoming } from './incoming.ts';
import type { Reply } from './reply.ts';

const { serve } = httpWorld();

const requests = 20_000;
const connections = 1_000;

/** What is asked tells how it is to be answered. */
async function answer(request: Incoming): Promise<Reply> {
  const [, manner = '', id = ''] = request.target.split('/');
  if (manner === 'bytes') return said(id);
  if (manner === 'echo') return said(`${id} ${await bodyOf(request)}`);
  if (manner === 'unread') return said(id);
  if (manner === 'later') {
    await aMoment();
    return said(id);
  }
  if (manner === 'large') return said(id.repeat(20_000));
  if (manner === 'none') return { status: 204, headers: { 'x-id': id }, body: null };
  return { status: 200, headers: {}, body: inPieces(...id) };
}

interface Manner {
  ask(id: string): string;
  isRight(reply: HeardReply, id: string): boolean;
}

const manners: readonly Manner[] = [
  { ask: (id) => get(`/bytes/${id}`), isRight: ({ body }, id) => body === id },
  { ask: (id) => post(`/echo/${id}`, id.repeat(100)), isRight: ({ body }, id) => body === `${id} ${id.repeat(100)}` },
  { ask: (id) => inChunks(`/echo/${id}`, id), isRight: ({ body }, id) => body === `${id} ${id}` },
  { ask: (id) => post(`/unread/${id}`, id.repeat(1_000)), isRight: ({ body }, id) => body === id },
  { ask: (id) => get(`/later/${id}`), isRight: ({ body }, id) => body === id },
  { ask: (id) => get(`/large/${id}`), isRight: ({ body }, id) => body === id.repeat(20_000) },
  { ask: (id) => get(`/none/${id}`), isRight: ({ status, headers }, id) => status === 204 && headers['x-id'] === id },
  { ask: (id) => get(`/stream/${id}`), isRight: ({ body }, id) => body === id },
];

const inChunks = (path: string, text: string): string =>
  `${lines(`POST ${path} HTTP/1.1`, 'host: a', 'transfer-encoding: chunked')}${[...text]
    .map((letter) => `1\r\n${letter}\r\n`)
    .join('')}0\r\n\r\n`;

test('thousands of requests over a thousand connections are each given their own answer', async () => {
  const server = serve(answer);
  const clients: HttpClient[] = await Promise.all(Array.from({ length: connections }, () => server.client()));
  const wrong: string[] = [];
  let next = 0;

  const ask = async (client: HttpClient): Promise<void> => {
    // Some come one by one, some several at once.
    const numbers = Array.from({ length: 1 + (next % 3) }, () => next++);
    const asked = numbers.map((number) => ({
      id: String(number).padStart(8, '0'),
      manner: manners[number % manners.length] as Manner,
    }));
    client.say(asked.map(({ id, manner }) => manner.ask(id)).join(''));
    for (const { id, manner } of asked) {
      const reply = await client.reply();
      if (!manner.isRight(reply, id)) wrong.push(`${id}: ${JSON.stringify(reply).slice(0, 200)}`);
    }
  };
  await Promise.all(
    clients.map(async (client) => {
      while (next < requests) await ask(client);
    }),
  );

  expect(wrong).toEqual([]);
  expect(server.asked.length).toBe(next);
  expect(clients.every(({ rest }) => rest === '')).toBe(true);
  for (const client of clients) client.leave();
  await server.listener.closed();
  expect(server.failed).toEqual([]);
});

test('clients that come and go in every way leave nothing behind', async () => {
  const server = serve(answer);
  const visit = async (number: number): Promise<void> => {
    const client = await server.client();
    const id = String(number).padStart(8, '0');
    const text = manners[number % manners.length]?.ask(id) ?? '';
    const said = number % 3 === 0 ? text.slice(0, (number * 7) % text.length) : text;
    client.say(said);
    if (number % 3 === 1) await client.reply();
    if (number % 3 === 2) await aMoment();
    if (number % 2) client.leave();
    else client.reset();
  };
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 50 }, (_, number) => visit(round * 50 + number)));
  }
  await server.listener.closed();
  // Handlers here do not mind a client that leaves in the middle of its body.
  expect(server.failed.filter((fault) => !(fault instanceof WireFault))).toEqual([]);
});
