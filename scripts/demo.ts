/** `npm run demo`: fills a data folder with a system worth looking at. The same seed makes the same traffic. */
import { existsSync, readdirSync } from 'node:fs';
import { demoStart } from './demo/start.ts';
import { writeTraffic } from './demo/traffic.ts';

const rows = Number(process.env.DEMO_ROWS ?? 200_000);
const seed = Number(process.env.DEMO_SEED ?? 1);
const dataDir = process.env.GW_DATA_DIR ?? './demo-data';

if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
  console.error(`${dataDir} is not empty; remove it, or name another folder with GW_DATA_DIR.`);
  process.exit(1);
}
const begun = performance.now();
const seconds = () => ((performance.now() - begun) / 1_000).toFixed(1);
const { places, credentials } = await demoStart(dataDir);
console.log(`${seconds()} s: ${places.length} workspaces with keys, configs and providers`);
let told = 0;
await writeTraffic(dataDir, places, { rows, seed, now: Date.now() }, (written) => {
  if (written - told < rows / 10 && written < rows) return;
  told = written;
  console.log(`${seconds()} s: ${written.toLocaleString('en')} calls`);
});
console.log(`\nDone in ${seconds()} s. Look at it with: GW_DATA_DIR=${dataDir} npm start\n`);
for (const [name, value] of Object.entries(credentials)) console.log(`${name}: ${value}`);
