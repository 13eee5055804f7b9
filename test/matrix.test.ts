/** Every dialect of clients over every family of providers: the same question, asked by the dialect's own SDK, arrives exactly, and its answer is read exactly. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Json } from './harness.ts';
import {
  type Cell,
  type CellName,
  cellNames,
  cells,
  loop,
  type Question,
  type Script,
  toldBy,
} from './matrix/cells.ts';
import { clients, type MatrixClient } from './matrix/clients.ts';
import { families } from './matrix/families/index.ts';
import { type SimulatedProvider, startProvider } from './providers/simulated.ts';
import { startWorld, type World } from './world.ts';

/** Thoughts are shown in chat only to clients that do not insist on OpenAI's own fields. */
const loose = { 'x-gw-strict-open-ai-compliance': 'false' };

describe.each([...families])('over $name', (family) => {
  let provider: SimulatedProvider;
  let world: World;

  beforeAll(async () => {
    provider = await startProvider(family.does({ text: '' }));
    world = await startWorld({});
    const custom_host = family.address?.(provider.url) ?? provider.url;
    await world.saveProvider('target', family.provider, provider, {
      configurations: { custom_host, ...family.settings },
    });
  });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
  });
  beforeEach(() => {
    provider.calls.length = 0;
  });
  afterEach(() => {
    expect(world.gateway.faults).toEqual([]);
  });

  const bodyOf = (client: MatrixClient, question: Question): Json => ({
    ...client.body(question, family.model),
    ...family.chosenBy,
  });
  const toldTo = (client: MatrixClient, script: Script, stream: boolean) =>
    family.tells?.(toldBy(script), client.name, stream) ?? toldBy(script);
  const headersOf = (isStrict: boolean) => ({ 'x-gw-provider': '@target', ...family.headers, ...(!isStrict && loose) });
  const refusalOf = (client: MatrixClient, name: CellName): string | undefined =>
    family.refuses?.[name] ?? family.refusesBy?.[client.name]?.[name];
  const askedWith = (client: MatrixClient, name: CellName, stream: boolean): Json => {
    const { question }: Cell = cells[name];
    if (family.speaks.includes(client.name)) {
      return { ...bodyOf(client, question), ...(stream && client.streamed) };
    }
    const asked = family.askedBy?.[client.name]?.[name] ?? family.asked[name];
    return stream ? family.streamed(asked, name, client.name) : asked;
  };

  for (const client of clients) {
    describe(client.name, () => {
      for (const name of cellNames) {
        for (const stream of [false, true]) {
          test(stream ? `${name}, streamed` : name, async () => {
            const { question, script }: Cell = cells[name];
            provider.script(family.does(script));
            const asking = client.ask(world, headersOf(name !== 'reasoning'), bodyOf(client, question), stream);
            const refused = refusalOf(client, name);
            if (refused !== undefined) {
              expect(await asking.catch(faultOf)).toMatchObject({ status: 400, field: refused });
              expect(provider.calls).toEqual([]);
              return;
            }
            if (script.fails) {
              const { status, message } = script.fails;
              expect(await asking.catch(faultOf)).toMatchObject({ status, message: expect.stringContaining(message) });
            } else {
              const { told, usage } = await asking;
              const reported = (stream ? family.streamUsage : undefined) ?? family.usage;
              expect({ told, usage }).toEqual({ told: toldTo(client, script, stream), usage: reported });
            }
            const asked = provider.calls.filter((call) => !family.fetches?.(call));
            expect(asked.map((call) => family.received?.(call) ?? call.json)).toEqual([
              askedWith(client, name, stream),
            ]);
          });
        }
      }

      if (family.refuses?.['tool call'] !== undefined) return;
      // A chat stream's helper does not put thoughts together.
      const ways = client.name === 'chat' ? [false] : [false, true];
      test.each(ways)('a tool loop gives the model its own turn back (streamed: %p)', async (stream) => {
        const thinks = family.refuses?.reasoning === undefined;
        const { thought, ...unthinking } = loop.script;
        const { effort, ...easy } = loop.question;
        const script = thinks ? { ...unthinking, thought } : unthinking;
        provider.script(family.does(script), family.does(loop.last));
        const headers = headersOf(false);
        const body = bodyOf(client, thinks ? { ...easy, effort } : easy);
        const { told, answer } = await client.ask(world, headers, body, stream);
        // A client that is not strict is told in the provider's own word why it stopped.
        expect({ ...told, stop: 'calls' }).toEqual(toldTo(client, script, stream));
        const results = told.calls.map(({ id }) => ({ id, text: loop.result }));
        const next = await client.ask(world, headers, client.goOn(body, answer, results), stream);
        expect(next.told.text).toBe(loop.last.text);
        const [, second] = provider.calls.map((call) => family.received?.(call) ?? call.json);
        const asItCame = [...family.speaks, ...(family.nearlySpeaks ?? [])].includes(client.name);
        if (!asItCame) expect(family.turnIn(second)).toEqual(family.ownTurn);
      });
    });
  }
});

/** What an SDK's error tells, in either of the forms that errors have. */
function faultOf(fault: Json): Json {
  const inner = fault.error?.error ?? fault.error ?? {};
  return { status: fault.status, message: fault.message, field: inner.field };
}
