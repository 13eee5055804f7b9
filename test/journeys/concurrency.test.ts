/** Many calls at once, whole and streamed, of many callers: each gets its own answer and its own log, never a piece of another's. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { type Behaviour, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;

/** Says what it was asked, word by word. */
const echo: Behaviour = (call, response) =>
  openai.says(...call.json.messages[0].content.split(/(?= )/))(call, response);

beforeAll(async () => {
  provider = await startProvider(echo);
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
});
afterAll(async () => {
  await world.stop();
  await provider.stop();
});

const atOnce = 200;

const spoken = (raw: string): string =>
  raw
    .split('\n\n')
    .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
    .map((chunk) => chunk.choices[0]?.delta.content ?? '')
    .join('');

test(`${atOnce} calls at once are answered apart`, async () => {
  const ask = async (index: number) => {
    const words = Array.from({ length: 1 + (index % 7) }, (_, place) => `w${index}-${place}`).join(' ');
    const body = { model: '@a/gpt-4o-mini', messages: [{ role: 'user', content: words }], stream: index % 2 === 0 };
    const response = await world.call('/v1/chat/completions', body, {
      'x-gw-metadata': JSON.stringify({ call: String(index) }),
    });
    const text = await response.text();
    const answer = body.stream ? spoken(text) : (JSON.parse(text) as Json).choices[0].message.content;
    return { index, words, answer, traceId: response.headers.get('x-gw-trace-id') ?? '' };
  };
  const answers = await Promise.all(Array.from({ length: atOnce }, (_, index) => ask(index)));
  expect(new Set(answers.map(({ traceId }) => traceId)).size).toBe(atOnce);
  for (const { index, words, answer, traceId } of answers) {
    expect(answer).toBe(words);
    const [metrics] = await world.records(traceId, 1);
    expect(metrics?.metadata).toEqual({ call: String(index) });
    const record = world.gateway.records.find((candidate) => candidate.metrics.id === metrics?.id);
    const kept = [record?.bodies.request?.body, record?.bodies.response?.body].map((bytes) =>
      Buffer.from(bytes ?? []).toString(),
    );
    expect(kept[0]).toContain(`"${words}"`);
    expect(kept[1]).toContain(`w${index}-0`);
  }
  expect(world.gateway.faults).toEqual([]);
});
