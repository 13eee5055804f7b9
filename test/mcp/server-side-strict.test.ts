/** Answers of server-side tools for clients that take OpenAI's own fields alone: asked for by header or by config. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { home } from '../people.ts';
import { chatBody, mcpTool, type ServerSideWorld, startServerSide } from './server-side-world.ts';

let world: ServerSideWorld;
let boundKey: string;

const strict = { strict_open_ai_compliance: true };
const configs = {
  plain: { provider: '@models' },
  loose: { provider: '@models', strict_open_ai_compliance: false },
  strict: { provider: '@models', ...strict },
  nested: { strategy: { mode: 'single' }, targets: [{ provider: '@models', ...strict }] },
};
const slugs = new Map<string, string>();
const config = (name: keyof typeof configs) => ({ 'x-gw-config': slugs.get(name) ?? '' });
const header = (value: string) => ({ 'x-gw-strict-open-ai-compliance': value });

beforeAll(async () => {
  world = await startServerSide();
  const { gateway } = world;
  const { workspaceId } = await home(gateway);
  for (const [name, body] of Object.entries(configs)) {
    const made = await gateway.post('/v1/configs', { name, config: body, workspace_id: workspaceId });
    expect(made.status).toBe(200);
    slugs.set(name, made.body.slug);
  }
  const key = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'bound',
    workspace_id: workspaceId,
    scopes: ['completions.write', 'mcp.invoke'],
    defaults: { config_id: slugs.get('strict') },
  });
  expect(key.status).toBe(200);
  boundKey = key.body.key;
});

afterAll(() => world.stop());

/** The last answer of a loop that was ended by its limit, so that both of our fields have something to tell. */
const answer = async (path: string, stream: boolean, headers: Record<string, string>): Promise<string> => {
  const { ask, forget, model } = world;
  forget();
  model.script = Array.from({ length: 3 }, () => [{ name: 'notes__echo', arguments: { text: 'one' } }]);
  const body = path === '/responses' ? { model: 'gpt-4o', input: 'hi' } : chatBody;
  const { status, text } = await ask(path, { ...body, tools: [mcpTool], stream }, headers);
  expect({ status, asked: model.asked.length }).toEqual({ status: 200, asked: 4 });
  return text;
};

describe.each([
  ['a chat answer', '/chat/completions', false],
  ['a chat stream', '/chat/completions', true],
  ['an answer of responses', '/responses', false],
  ['a stream of responses', '/responses', true],
])('%s', (_, path, stream) => {
  const told = async (headers: Record<string, string>) => (await answer(path, stream, headers)).includes('gw_mcp');

  test('tells what was called unless somebody asks for less in so many words', async () => {
    expect(await told({})).toBe(true);
    expect(await told(config('plain'))).toBe(true);
    expect(await told(config('loose'))).toBe(true);
    // The header counts before the config.
    expect(await told({ ...config('strict'), ...header('false') })).toBe(true);
  });

  test('tells nothing of it where the header asks for that', async () => {
    expect(await told(header('true'))).toBe(false);
    expect(await told({ 'x-gw-strict-openai-compliance': 'TRUE' })).toBe(false);
  });

  test('tells nothing of it where a config or a target asks for that', async () => {
    expect(await told(config('strict'))).toBe(false);
    expect(await told(config('nested'))).toBe(false);
    expect(await told({ 'x-gw-api-key': boundKey })).toBe(false);
  });
});
