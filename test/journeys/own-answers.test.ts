/** Calls that no provider is asked for are settled and logged like any other. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';

let plane: Plane;

beforeAll(() => {
  plane = startPlane();
  plane.providers.set('a', savedProvider('a'));
});
afterAll(() => plane.stop());

test('the integrated list of models leaves one record, without usage or cost', async () => {
  const heard: (string | null)[] = [];
  plane.deps.settlers = [({ record }) => void heard.push(record.target?.provider.id ?? null)];
  const response = await plane.call('/v1/models', undefined, { 'x-gw-models-endpoint': 'true' });
  expect(response.status).toBe(200);
  await response.text();
  const records = await plane.settled();
  expect(records.map(({ metrics }) => [metrics.endpoint_type, metrics.response_status_code, metrics.cost])).toEqual([
    ['listModels', 200, 0],
  ]);
  expect(heard).toEqual([null]);
});
