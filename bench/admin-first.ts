/** A process of its own that opens a filled store and asks for every long list once: at once, or when their rows are in memory. */
import { z } from 'zod';
import { startApp } from '../src/app.ts';
import { readEnvironment } from '../src/environment.ts';
import { silentLog } from '../src/log.ts';
import { lists, longLists, timesOf } from './admin-lists.ts';

const asked = z.object({
  env: z.record(z.string(), z.string()),
  filled: z.object({
    workspaceId: z.string(),
    ownerId: z.string(),
    organisationId: z.string(),
    keyId: z.string(),
    secret: z.string(),
  }),
  adminKey: z.string(),
  /** Whether it waits until the rows are in memory. */
  patient: z.boolean(),
  /** Which list comes first, so that not always the same one meets code that never ran. */
  first: z.number(),
});

/** Until what was read on the way is given back. */
const restMs = 5_000;
const megabytes = () => process.memoryUsage.rss() / 1024 ** 2;

const { env, filled, adminKey, patient, first } = asked.parse(JSON.parse(process.argv[2] ?? ''));
const opened = performance.now();
const app = await startApp(readEnvironment(env), { log: silentLog });
const readyMs = performance.now() - opened;
const reading = patient ? await untilHeld() : null;
// Whoever asks for a list has signed in, and chose a workspace.
const [, workspaces] = lists(filled).find(([name]) => name === 'workspaces') ?? ['', ''];
await timesOf(app.url, adminKey, workspaces, 5);

async function untilHeld() {
  const megabytesBefore = megabytes();
  const begun = performance.now();
  const cpu = process.cpuUsage();
  let longestMs = 0;
  let last = begun;
  const watch = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }, 1);
  await app.services.longLists.tend();
  clearInterval(watch);
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - begun;
  await Bun.sleep(restMs);
  return { ms, cpuMs: (user + system) / 1_000, longestMs, megabytesBefore, megabytes: megabytes() };
}

const all = longLists(filled);
const times: Record<string, number> = {};
for (const [what, path] of [...all.slice(first), ...all.slice(0, first)]) {
  const [time = 0] = await timesOf(app.url, adminKey, path, 1);
  times[what] = time;
}
console.log(JSON.stringify({ readyMs, reading, times }));
await app.stop();
