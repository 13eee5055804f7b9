import { expect, test } from 'bun:test';
import { until } from '../../../test/servers/wire-calls.ts';
import { Pulse } from './pulse.ts';

test('the silence is counted from the last sign of life', async () => {
  const start = performance.now();
  const pulse = new Pulse();
  await until(() => performance.now() > start + 10);
  pulse.heard();
  expect(pulse.look(start + 30_005)).toBe('wait');
  expect(pulse.look(performance.now() + 30_001)).toBe('ask');
});

test('whoever is asked has its time for the answer from then on', () => {
  const pulse = new Pulse();
  const asked = performance.now() + 100_000;
  expect(pulse.look(asked)).toBe('ask');
  expect(pulse.look(asked + 15_990)).toBe('wait');
  expect(pulse.look(asked + 16_010)).toBe('give up');
});
