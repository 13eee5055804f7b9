/** Runs what happens by itself: each job at its own pace, on one node at a time by a lease in the database. */
import type { Clock } from '../clock.ts';
import { faultFields, type Log } from '../log.ts';
import type { Store } from '../store/database.ts';
import { leaseRenewalMs, releaseLease, renewLease, takeLease } from '../store/leases.ts';

export interface Job {
  name: string;
  everyMs: number;
  /** It keeps this node itself up to date, so that every node runs it and none needs a lease. */
  onEveryNode?: true;
  /** Does all that is due. It may be cut short by a kill at any point and must then finish the rest next time. */
  run(now: Date): Promise<void>;
  /** Resolves when nothing goes on any more of what runs have left under way. */
  ended?(): Promise<void>;
}

export interface JobRunner {
  start(): void;
  /** Runs one job now, if no other node holds it; for tests and for the command line. */
  runOnce(name: string): Promise<void>;
  /** Lets running jobs end and starts no more. */
  stop(): Promise<void>;
}

export function createJobRunner(
  jobs: readonly Job[],
  store: Store,
  clock: Clock,
  log: Log,
  renewalEveryMs = leaseRenewalMs,
): JobRunner {
  const holder = Bun.randomUUIDv7();
  const timers: ReturnType<typeof setInterval>[] = [];
  const running = new Map<string, Promise<void>>();

  const attempt = async (job: Job) => {
    try {
      if (job.onEveryNode) return await job.run(clock.now());
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
      await Promise.all(jobs.map((job) => job.ended?.()));
    },
  };
}
