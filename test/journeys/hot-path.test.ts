/** The hot path touches no SQL: a thousand calls of every kind run without a single statement. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const calls = 1_000;
const atOnce = 20;
const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

onEachEngine('the hot path', (start) => {
  let provider: SimulatedProvider;
  let world: World;

  beforeAll(async () => {
    provider = await startProvider(openai.says('Hello'));
    world = await startWorld({ a: { provider: 'openai', simulated: provider } }, {}, start);
    // Jobs ask the store by themselves, whatever the calls do.
    await world.gateway.app.jobs.stop();
  });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });

  /** Runs `work` and answers how often the state store was asked for a connection: every statement and every transaction does. */
  const connectionsDuring = async (work: () => Promise<void>): Promise<number> => {
    const executor = world.gateway.app.services.store.db.getExecutor();
    const { provideConnection } = executor;
    let connections = 0;
    executor.provideConnection = (consumer) => {
      connections++;
      return provideConnection.call(executor, consumer) as ReturnType<typeof consumer>;
    };
    try {
      await work();
    } finally {
      executor.provideConnection = provideConnection;
    }
    return connections;
  };

  test('reads and writes of the control plane are counted', async () => {
    const reading = await connectionsDuring(async () => void (await world.gateway.get('/v1/configs')));
    const writing = await connectionsDuring(async () => void (await world.saveConfig({ provider: '@a' })));
    expect([reading > 0, writing > 0]).toEqual([true, true]);
  });

  test(`${calls} calls, whole and streamed, by config, header and model, run without one`, async () => {
    const config = await world.saveConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@a', retry: { attempts: 2 } }, { provider: '@a' }],
    });
    const kinds = [
      () => world.call('/v1/chat/completions', question, { 'x-gw-config': config }),
      () => world.call('/v1/chat/completions', { ...question, stream: true }, { 'x-gw-provider': '@a' }),
      () => world.call('/v1/chat/completions', { ...question, model: '@a/gpt-4o-mini' }),
      () => world.call('/v1/proxy/chat/completions', question, { 'x-gw-virtual-key': 'a' }),
    ];
    const call = async (index: number) => {
      const response = await kinds[index % kinds.length]?.();
      expect(response?.status).toBe(200);
      await response?.arrayBuffer();
    };
    // The first of each finds nothing in memory.
    for (let index = 0; index < kinds.length; index++) await call(index);
    const connections = await connectionsDuring(async () => {
      for (let done = 0; done < calls; done += atOnce) {
        await Promise.all(Array.from({ length: atOnce }, (_, index) => call(done + index)));
      }
    });
    expect(connections).toBe(0);
    expect(world.gateway.faults).toEqual([]);
  });
});
