import { describe, expect, test } from 'bun:test';
import { FairLookups, lookupBounds } from './fair-lookups.ts';

/** Look-ups that end when the test says so, by a clock of the test's own. */
function lab() {
  const asked = new Map<string, PromiseWithResolvers<string[]>>();
  const timers = new Set<{ at: number; run: () => void }>();
  let now = 0;
  const lookups = new FairLookups(
    (name) => {
      const outcome = Promise.withResolvers<string[]>();
      asked.set(name, outcome);
      return outcome.promise;
    },
    () => now,
    (ms, run) => {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    lookups,
    turn,
    /** The names that are being looked up. */
    asked: () => [...asked.keys()],
    async find(name: string, ...addresses: string[]) {
      asked.get(name)?.resolve(addresses);
      asked.delete(name);
      await turn();
    },
    async fail(name: string) {
      asked.get(name)?.reject(new Error('ENOTFOUND'));
      asked.delete(name);
      await turn();
    },
    async wait(ms: number) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.run();
      }
      await turn();
    },
    /** What becomes of a look-up: its addresses, or what it says. */
    ask: (name: string, tenant: string) => lookups.addressesOf(name, tenant).catch((fault: Error) => fault.message),
  };
}

describe('dead names of one tenant', () => {
  test('hold up nobody else', async () => {
    const { ask, asked, find, turn } = lab();
    const dead = Array.from({ length: 40 }, (_, index) => ask(`dead-${index}.example`, 'a'));
    await turn();
    expect(asked()).toHaveLength(lookupBounds.atOnceOfTenant);
    const living = ask('living.example', 'b');
    await turn();
    await find('living.example', '192.0.2.1');
    expect(await living).toEqual(['192.0.2.1']);
    expect(dead).toHaveLength(40);
  });

  test('are given up soon, also those that waited, and remembered', async () => {
    const { ask, asked, wait, find, turn } = lab();
    const all = Array.from({ length: 6 }, (_, index) => ask(`dead-${index}.example`, 'a'));
    await turn();
    await wait(lookupBounds.timeoutMs);
    for (const message of await Promise.all(all)) expect(message).toContain('could not be looked up within');
    expect(await ask('dead-0.example', 'b')).toContain('could not be looked up');
    expect(asked()).toHaveLength(lookupBounds.atOnceOfTenant);
    // The answer that came too late for those who asked is good for the next.
    await find('dead-0.example', '192.0.2.1');
    expect(await ask('dead-0.example', 'b')).toEqual(['192.0.2.1']);
  });

  test('fill a queue that has an end', async () => {
    const { ask, turn } = lab();
    const most = lookupBounds.atOnceOfTenant + lookupBounds.waitingOfTenant;
    const all = Array.from({ length: most }, (_, index) => ask(`dead-${index}.example`, 'a'));
    await turn();
    expect(await ask('one-more.example', 'a')).toContain('try again in a moment');
    expect(all).toHaveLength(most);
  });
});

test('tenants that wait take turns', async () => {
  const { ask, asked, find, turn } = lab();
  const tenants = Math.ceil(lookupBounds.atOnce / lookupBounds.atOnceOfTenant);
  for (let tenant = 0; tenant < tenants; tenant++) {
    for (let name = 0; name < lookupBounds.atOnceOfTenant; name++) ask(`busy-${tenant}-${name}.example`, `t${tenant}`);
  }
  ask('waits-1.example', 'a');
  ask('waits-2.example', 'a');
  ask('late.example', 'b');
  await turn();
  expect(asked()).toHaveLength(lookupBounds.atOnce);
  await find('busy-0-0.example', '192.0.2.1');
  await find('busy-0-1.example', '192.0.2.1');
  expect(asked().slice(-2)).toEqual(['waits-1.example', 'late.example']);
});

test('a name that is being looked up is not looked up a second time', async () => {
  const { ask, asked, find, turn } = lab();
  const both = [ask('one.example', 'a'), ask('one.example', 'b')];
  await turn();
  expect(asked()).toEqual(['one.example']);
  await find('one.example', '192.0.2.1');
  expect(await Promise.all(both)).toEqual([['192.0.2.1'], ['192.0.2.1']]);
});

test('what was found is kept for some seconds, and a failure gives its place back', async () => {
  const { ask, asked, find, fail, wait, turn } = lab();
  for (let index = 0; index < 2 * lookupBounds.atOnceOfTenant; index++) {
    const failing = ask(`gone-${index}.example`, 'a');
    await turn();
    await fail(`gone-${index}.example`);
    expect(await failing).toBe('ENOTFOUND');
  }
  const found = ask('one.example', 'a');
  await turn();
  await find('one.example', '192.0.2.1');
  await found;
  await wait(lookupBounds.keptMs - 1);
  expect(await ask('one.example', 'a')).toEqual(['192.0.2.1']);
  await wait(1);
  ask('one.example', 'a');
  await turn();
  expect(asked()).toEqual(['one.example']);
});
