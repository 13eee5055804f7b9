import { expect, test } from 'bun:test';
import { FairRounds } from './fair-rounds.ts';

/** Batches that go on when the test says so. */
function lab() {
  const asked = new Map<string, PromiseWithResolvers<void>>();
  const rounds = new FairRounds((id) => {
    const part = Promise.withResolvers<void>();
    asked.set(id, part);
    return part.promise;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (id: string, fault?: Error) => {
    const part = asked.get(id);
    asked.delete(id);
    if (fault) part?.reject(fault);
    else part?.resolve();
    await turn();
  };
  return { rounds, end, asked: () => [...asked.keys()] };
}

test('an organisation whose provider sleeps holds up nobody else', async () => {
  const { rounds, asked, end } = lab();
  rounds.queue(
    'a',
    Array.from({ length: 20 }, (_, index) => `a${index}`),
  );
  rounds.queue('b', ['b0', 'b1']);
  expect(asked()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1']);
  await end('b0');
  await end('b1');
  rounds.queue('b', ['b0', 'b1', 'b2']);
  expect(asked()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2']);
});

test('a batch of its own that sleeps takes one of its places', async () => {
  const { rounds, asked, end } = lab();
  rounds.queue('a', ['slow', 'a1', 'a2', 'a3', 'a4', 'a5']);
  for (const id of ['a1', 'a2', 'a3', 'a4', 'a5']) await end(id);
  expect(asked()).toEqual(['slow']);
  rounds.queue('a', ['slow', 'a1']);
  expect(asked()).toEqual(['slow', 'a1']);
});

test('what is wrong with one batch is told, and the others go on', async () => {
  const { rounds, asked, end } = lab();
  rounds.queue('a', ['a0', 'a1', 'a2', 'a3', 'a4']);
  await end('a0', new Error('broken'));
  expect(asked()).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(rounds.takeFaults()).toEqual([new Error('broken')]);
  expect(rounds.takeFaults()).toEqual([]);
  const ended = rounds.ended();
  for (const id of ['a1', 'a2', 'a3', 'a4']) await end(id);
  await ended;
});
