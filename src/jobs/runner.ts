/** Runs what happens by itself: each job at its own pace, on one node at a time by a lease in the database. */
import type { Clock } from '../clock.ts';
import { faultFields, type Log } from '../log.ts';
import type { Store } from '../store/database.ts';

export interface Job {
  name: string;
  everyMs: number;
  /** Does all that is due. It may be cut short by a kill at any point and must then finish the rest next time. */
  run(now: Date): Promise<void>;
}

export interface JobRunner {
  start(): void;
  /** Runs one job now, if no other node holds it; for tests and for the command line. */
  runOnce(name: string): Promise<void>;
  /** Lets running jobs end and starts no more. */
  stop(): Promise<void>;
}

/** A node that died holds its lease at most this long. */
const leaseMs = 5 * 60_000;
/** A node at work renews its lease, so that work that takes longer is not taken up by another beside it. */
const renewalMs = leaseMs / 5;

export function createJobRunner(
  jobs: readonly Job[],
  store: Store,
  clock: Clock,
  log: Log,
  renewalEveryMs = renewalMs,
): JobRunner {
  const holder = Bun.randomUUIDv7();
  const timers: ReturnType<typeof setInterval>[] = [];
  const running = new Map<string, Promise<void>>();

  const attempt = async (job: Job) => {
    try {
      if (!(await takeLease(store, job.name, holder, clock.now()))) return;
      const renewal = setInterval(() => void renew(job.name), renewalEveryMs);
      await job.run(clock.now()).finally(() => clearInterval(renewal));
      await releaseLease(store, job.name, holder);
    } catch (fault) {
      log.error(`The job ${job.name} failed; it runs again in ${job.everyMs / 1000} s.`, faultFields(fault));
    }
  };

  const renew = (name: string) =>
    renewLease(store, name, holder, clock.now()).catch((fault) =>
      log.error(`The lease of the job ${name} could not be renewed; it is tried again.`, faultFields(fault)),
    );

  const launch = (job: Job): Promise<void> => {
    const underway = running.get(job.name);
    if (underway) return underway;
    const run = attempt(job).finally(() => running.delete(job.name));
    running.set(job.name, run);
    return run;
  };

  return {
    start() {
      for (const job of jobs) timers.push(setInterval(() => void launch(job), job.everyMs));
    },
    async runOnce(name) {
      const job = jobs.find((candidate) => candidate.name === name);
      if (!job) throw new Error(`No job is called ${name}`);
      await running.get(name);
      await launch(job);
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}

async function takeLease(store: Store, name: string, holder: string, now: Date): Promise<boolean> {
  const until = new Date(now.getTime() + leaseMs).toISOString();
  return store.atomically(async (tx) => {
    const lease = await tx.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst();
    if (lease && lease.holder !== holder && isHeld(lease.expires_at, now)) return false;
    await tx
      .insertInto('leases')
      .values({ name, holder, expires_at: until })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder, expires_at: until }))
      .execute();
    return true;
  });
}

/** A lease that was given back meanwhile stays so. */
async function renewLease(store: Store, name: string, holder: string, now: Date): Promise<void> {
  await store.db
    .updateTable('leases')
    .set({ expires_at: new Date(now.getTime() + leaseMs).toISOString() })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .execute();
}

/** An end that no node could have written by now comes from a clock that was wrong; it holds nobody. */
const isHeld = (expiresAt: string, now: Date): boolean =>
  expiresAt > now.toISOString() && Date.parse(expiresAt) - now.getTime() < 2 * leaseMs;

async function releaseLease(store: Store, name: string, holder: string): Promise<void> {
  await store.db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}
