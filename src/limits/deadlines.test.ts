/** Calls are answered in their time, whatever Redis does; time is the test's own. */
import { describe, expect, test } from 'bun:test';
import { Deadlines, type Timing } from './deadlines.ts';
import { LimitStoreAway } from './engine.ts';
import { usageLimit } from './engine-suite.ts';
import { RedisEngine } from './redis-engine.ts';

/** A clock that moves only when it is told to. */
class TestTiming implements Timing {
  #now = 0;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Runs what is due on the way, and lets those who waited for it go on. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#now = Math.max(this.#now, next.at);
      this.#fire(next);
      await turns();
    }
    this.#now = until;
    await turns();
  }

  /** The process was busy: nothing ran meanwhile, and all that was due runs late. */
  async stall(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of this.#timers.filter(({ at }) => at <= this.#now)) this.#fire(timer);
    await turns();
  }

  #fire(timer: { run: () => void }): void {
    this.#timers = this.#timers.filter((other) => other !== timer);
    timer.run();
  }
}

/** Until everything that follows from what happened has happened. */
const turns = () => new Promise<void>((resolve) => setImmediate(resolve));

/** How it ended, once it has. */
function watched(work: Promise<unknown>): { ended: string | null } {
  const watch: { ended: string | null } = { ended: null };
  work.then(
    () => {
      watch.ended = 'answered';
    },
    (fault) => {
      watch.ended = fault instanceof LimitStoreAway ? 'store away' : String(fault);
    },
  );
  return watch;
}

const forever = () => new Promise<never>(() => undefined);

describe('deadlines', () => {
  test('end a wait at its time and not before, each at its own', async () => {
    const timing = new TestTiming();
    const deadlines = new Deadlines(40, timing);
    const first = watched(deadlines.within(forever()));
    await timing.advance(25);
    const second = watched(deadlines.within(forever()));
    await timing.advance(14);
    expect([first.ended, second.ended]).toEqual([null, null]);
    await timing.advance(1);
    expect([first.ended, second.ended]).toEqual(['store away', null]);
    await timing.advance(25);
    expect(second.ended).toBe('store away');
  });

  test('a call that asks again has only what is left of its time', async () => {
    const timing = new TestTiming();
    const deadlines = new Deadlines(40, timing);
    const until = deadlines.start();
    await timing.advance(30);
    watched(deadlines.within(forever()));
    const again = watched(deadlines.within(forever(), until));
    await timing.advance(10);
    expect(again.ended).toBe('store away');
  });

  test('an answer that came while the process was busy counts; one that did not is waited for no longer', async () => {
    const timing = new TestTiming();
    const deadlines = new Deadlines(40, timing);
    const { promise, resolve } = Promise.withResolvers<void>();
    const answered = watched(deadlines.within(promise));
    const silent = watched(deadlines.within(forever()));
    await timing.stall(200);
    resolve();
    await turns();
    expect([answered.ended, silent.ended]).toEqual(['answered', null]);
    // However busy it is from here on.
    await timing.stall(200);
    expect(silent.ended).toBe('store away');
  });
});

describe('a reservation in Redis', () => {
  const organisationId = 'organisation-1';
  const request = () => ({
    id: Bun.randomUUIDv7(),
    organisationId,
    demands: [{ limit: usageLimit(organisationId, 10), least: 1, most: 1 }],
  });

  /** An engine on a server that answers as `replies` say, one after the other, and then no more. */
  function engineOn(timing: TestTiming, replies: (() => Promise<unknown>)[]): RedisEngine {
    const command = () => (replies.shift() ?? forever)();
    return new RedisEngine(
      { command, close: async () => undefined },
      { record: () => undefined, known: async () => [], now: () => 0, timing },
    );
  }

  const after = (timing: TestTiming, ms: number, reply: unknown) => () =>
    new Promise((resolve) => void timing.after(ms, () => resolve(reply)));

  test('is given up within 50 ms where the server hangs', async () => {
    const timing = new TestTiming();
    const reserving = watched(engineOn(timing, []).reserve(request()));
    await timing.advance(39);
    expect(reserving.ended).toBeNull();
    await timing.advance(11);
    expect(reserving.ended).toBe('store away');
  });

  test('and where it answers each question slowly, and needs several', async () => {
    const timing = new TestTiming();
    const reserving = watched(engineOn(timing, [after(timing, 35, ['rebuild'])]).reserve(request()));
    await timing.advance(50);
    expect(reserving.ended).toBe('store away');
  });

  test('that was given up is let go when the server reads on', async () => {
    const timing = new TestTiming();
    const asked: string[][] = [];
    let hangs = true;
    const engine = new RedisEngine(
      {
        command: (_key, args) => {
          asked.push([...args]);
          return hangs ? forever() : Promise.resolve(['settled', []]);
        },
        close: async () => undefined,
      },
      { record: () => undefined, known: async () => [], now: () => 0, timing },
    );
    const { id, ...rest } = request();
    const reserving = watched(engine.reserve({ id, ...rest }));
    await timing.advance(50);
    expect(reserving.ended).toBe('store away');
    hangs = false;
    await timing.advance(1_000);
    expect(asked.at(-1)?.slice(-2)).toEqual([id, 'forget']);
  });
});
