/** Names that lead where nobody may call, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../../test/harness.ts';

let gateway: TestGateway;
let workspaceId: string;
const asked: [url: string, organisationId: string][] = [];

beforeAll(async () => {
  gateway = await startGateway();
  const { body } = await gateway.get('/v1/workspaces');
  workspaceId = body.data[0].id;
  gateway.app.services.hostFault = async (url, organisationId) => {
    asked.push([url, organisationId]);
    return new URL(url).hostname === 'inside.example.com' ? 'cannot be called: it is a private address' : null;
  };
});
afterAll(() => gateway.stopWithoutFaults());

const inside = 'https://inside.example.com/v1';

const saved: [string, string, string, object][] = [
  [
    'an integration',
    '/v1/integrations',
    'configurations.custom_host',
    { name: 'a', slug: 'a', ai_provider_id: 'openai', key: 'sk-a', configurations: { custom_host: inside } },
  ],
  ['a webhook', '/v1/webhooks', 'url', { url: inside }],
  [
    'a target of a config',
    '/v1/configs',
    'config.targets[1].custom_host',
    {
      name: 'c',
      config: {
        strategy: { mode: 'fallback' },
        targets: [{ provider: 'openai' }, { provider: 'openai', custom_host: inside }],
      },
    },
  ],
  [
    'an MCP server',
    '/v1/mcp-integrations',
    'url',
    { name: 'm', slug: 'm', url: inside, auth_type: 'none', transport: 'http' },
  ],
];

test.each(saved)('%s that leads inside is refused with a 400 that names the field', async (_, path, field, body) => {
  const reply = await gateway.post(path, { workspace_id: workspaceId, ...body });
  expect([reply.status, reply.body.data.errors]).toEqual([
    400,
    [{ location: 'body', path: field, message: 'cannot be called: it is a private address' }],
  ]);
});

test('names outside are accepted, and looked up for the organisation that saves them', async () => {
  asked.length = 0;
  const custom_host = 'https://outside.example.com/v1';
  const reply = await gateway.post('/v1/integrations', {
    name: 'b',
    slug: 'b',
    ai_provider_id: 'openai',
    key: 'sk-b',
    workspace_id: workspaceId,
    configurations: { custom_host },
  });
  expect(reply.status).toBe(200);
  const { body } = await gateway.get('/v1/organisations');
  expect(asked).toEqual([[custom_host, body.data?.[0]?.id ?? asked[0]?.[1]]]);
});

test('an address that is only handed on to a provider is not looked up', async () => {
  asked.length = 0;
  const config = { provider: 'openai', override_params: { tools: [{ type: 'mcp', server_url: inside }] } };
  expect((await gateway.post('/v1/configs', { name: 'd', config, workspace_id: workspaceId })).status).toBe(200);
  expect(asked).toEqual([]);
});
