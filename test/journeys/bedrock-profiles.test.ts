/** Application inference profiles of Bedrock's: the model behind one is asked for once, and decides how calls are written and what they cost. */
import { describe, expect, test } from 'bun:test';
import { bedrockWorld } from '../bedrock-world.ts';
import { anthropicClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { invokes, known, refuses, region } from '../providers/bedrock.ts';
import { type Behaviour, json, silence } from '../providers/simulated.ts';

const { provider, world, client } = await bedrockWorld();

const claude = 'anthropic.claude-sonnet-4-20250514-v1:0';
let profiles = 0;
const newProfile = () => `arn:aws:bedrock:${region}:123456789012:application-inference-profile/p${++profiles}`;

/** The profile's model behind the control plane, and everything else at the runtime. */
const withProfile =
  (found: Behaviour, runtime: Behaviour): Behaviour =>
  (call, response) =>
    (call.path.startsWith('/inference-profiles/') ? found : runtime)(call, response);

const profileOf = (model: string): Behaviour =>
  known(
    json(200, {
      inferenceProfileName: 'team-search',
      type: 'APPLICATION',
      status: 'ACTIVE',
      models: [{ modelArn: `arn:aws:bedrock:${region}::foundation-model/${model}` }],
    }),
  );
/** What the model takes is checked elsewhere: here its name does not tell it. */
const hello = known(
  json(200, {
    output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
  }),
);
const messages = [{ role: 'user' as const, content: 'Say hello.' }];
const paths = () => provider.calls.map(({ method, path }) => `${method} ${path}`);
const lookUp = (arn: string) => `GET /inference-profiles/${encodeURIComponent(arn)}`;
const converse = (arn: string) => `POST /model/${encodeURIComponent(arn)}/converse`;

const priced = async (trace: string): Promise<[string, number]> => {
  const [record] = await world.records(trace, 1);
  return [record?.ai_model ?? '', record?.cost ?? 0];
};

describe('a profile', () => {
  test('is looked up once; calls under its name are written for its model, and cost what that does', async () => {
    const model = newProfile();
    provider.script(withProfile(profileOf(claude), hello));
    const asked = { model, messages, reasoning_effort: 'low' as const, max_completion_tokens: 8_000 };
    const { response } = await client.chat.completions.create(asked).withResponse();
    await client.chat.completions.create(asked);
    expect(paths()).toEqual([lookUp(model), converse(model), converse(model)]);
    expect(provider.calls[1]?.json.additionalModelRequestFields.thinking).toMatchObject({ type: 'enabled' });
    // Cents: 20 × $3 and 10 × $15, each for a million tokens.
    const [name, cost] = await priced(response.headers.get('x-gw-trace-id') ?? '');
    expect(name).toBe(claude);
    expect(cost).toBeCloseTo((20 * 3 + 10 * 15) / 10_000, 10);
  });

  test('of Claude’s takes messages in Anthropic’s own dialect', async () => {
    const model = newProfile();
    const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello' }], usage: {} };
    provider.script(
      withProfile(
        profileOf(claude),
        invokes(() => message),
      ),
    );
    const native = anthropicClient(world, { 'x-gw-provider': '@aws' });
    const answer = (await native.messages.create({ model, max_tokens: 9, messages })) as Json;
    expect(answer.content).toEqual(message.content);
    expect(paths()).toEqual([lookUp(model), `POST /model/${encodeURIComponent(model)}/invoke`]);
  });

  test('that many ask for at once is looked up once', async () => {
    const model = newProfile();
    provider.script(withProfile(profileOf(claude), hello));
    await Promise.all([1, 2, 3].map(() => client.chat.completions.create({ model, messages })));
    expect(paths().filter((path) => path === lookUp(model))).toHaveLength(1);
  });

  test('whose model the target names is not looked up', async () => {
    const model = newProfile();
    provider.script(hello);
    const config = await world.saveConfig({ provider: '@aws', foundation_model: claude });
    await client.chat.completions.create({ model, messages }, { headers: { 'x-gw-config': config } });
    expect(paths()).toEqual([converse(model)]);
  });
});

describe('a profile that cannot be looked up', () => {
  test('is called all the same, and not asked for again at once', async () => {
    const model = newProfile();
    const denied = known(
      refuses(403, 'AccessDeniedException', 'not authorized to perform: bedrock:GetInferenceProfile'),
    );
    provider.script(withProfile(denied, hello));
    for (const _ of [1, 2]) {
      const answer = await client.chat.completions.create({ model, messages });
      expect(answer.choices[0]?.message.content).toBe('Hello');
    }
    expect(paths()).toEqual([lookUp(model), converse(model), converse(model)]);
  });

  test('keeps a call waiting no longer than its deadline', async () => {
    const model = newProfile();
    provider.script(withProfile(silence, hello));
    const headers = { 'x-gw-provider': '@aws', 'x-gw-request-timeout': '60' };
    const late = await world.call('/v1/chat/completions', { model, messages }, headers);
    expect([late.status, ((await late.json()) as Json).error.code]).toEqual([408, 'request_timeout']);
    expect(paths()).toEqual([lookUp(model)]);
  });
});
