/** Who may read metrics, and what is made where telemetry is switched off. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../test/harness.ts';
import { silentLog } from '../log.ts';
import { openTelemetry } from './telemetry.ts';

const token = 'a-token-for-scrapers';
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ METRICS_TOKEN: token });
});
afterAll(() => gateway.stopWithoutFaults());

const scrape = async (key: string) =>
  fetch(`${gateway.url}/metrics`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

test('metrics are shown to whoever holds the token alone', async () => {
  const statuses = await Promise.all(
    ['', 'wrong-token-of-somebody', token].map(async (key) => (await scrape(key)).status),
  );
  expect(statuses).toEqual([401, 401, 200]);
});

test('where both are switched off, no record is looked at', async () => {
  const { observe, close } = openTelemetry({ metrics: null, traces: null }, silentLog);
  expect(observe).toBeNull();
  await close();
});
