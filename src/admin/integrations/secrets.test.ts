/** Canaries in every credential field: none may come out again, in a reply, an audit row, the log or the store. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { home, storeOf } from '../../../test/people.ts';

const canary = 'CANARY-5f2e9a';
const secret = (name: string) => `zz-${canary}-${name}-zz`;

onEachEngine('secrets of integrations', (start) => {
  let gateway: TestGateway;
  let workspaceId: string;
  const replies: string[] = [];

  beforeAll(async () => {
    gateway = await start();
    ({ workspaceId } = await home(gateway));
  });
  afterAll(() => gateway.stop());

  const ask = async (method: string, path: string, body?: unknown) => {
    const reply = await gateway.ask(method, path, body === undefined ? {} : { body });
    replies.push(JSON.stringify(reply.body), JSON.stringify([...reply.headers]));
    return reply;
  };

  test('what goes in does not come out', async () => {
    const hosted = { custom_host: 'https://a.example.com', custom_headers: { 'x-plain': secret('header') } };
    const bodies: [string, object][] = [
      [
        'openai',
        {
          configurations: {
            ...hosted,
            proxy: { user: 'gw', password: secret('nested') },
            regions: [{ name: 'eu', api_key: secret('listed') }],
          },
        },
      ],
      [
        'bedrock',
        {
          configurations: {
            ...hosted,
            aws_auth_type: 'accessKey',
            aws_region: 'eu-west-1',
            aws_access_key_id: secret('id'),
            aws_secret_access_key: secret('access'),
            aws_session_token: secret('session'),
          },
        },
      ],
      [
        'vertex-ai',
        {
          configurations: {
            ...hosted,
            vertex_auth_type: 'serviceAccount',
            vertex_region: 'global',
            vertex_service_account_json: { private_key: secret('pem'), client_email: secret('mail') },
          },
        },
      ],
      [
        'azure-ai',
        {
          configurations: {
            ...hosted,
            azure_auth_mode: 'entra',
            azure_foundry_url: 'https://f.example.com',
            azure_entra_tenant_id: 't',
            azure_entra_client_id: 'c',
            azure_entra_client_secret: secret('entra'),
          },
        },
      ],
    ];
    for (const [index, [ai_provider_id, more]] of bodies.entries()) {
      const slug = `canary-${index}`;
      const made = await ask('POST', '/v1/integrations', {
        name: slug,
        slug,
        ai_provider_id,
        key: secret('key'),
        workspace_id: workspaceId,
        ...more,
      });
      expect(made.status).toBe(200);
      // Refused calls leave an audit row too.
      expect(
        (await ask('POST', '/v1/integrations', { slug, name: slug, ai_provider_id, key: secret('k'), ...more })).status,
      ).toBe(409);
      expect((await ask('PUT', `/v1/integrations/${slug}`, { key: secret('new'), ...more })).status).toBe(200);
      await ask('PUT', `/v1/integrations/${slug}`, { key: `${secret('bad')}\n`, configurations: { custom_host: 'x' } });
      const model = { slug: 'm', enabled: true, configurations: hosted };
      expect((await ask('PUT', `/v1/integrations/${slug}/models`, { models: [model] })).status).toBe(200);
      for (const path of [
        `/v1/integrations/${slug}`,
        '/v1/integrations',
        `/v1/integrations/${slug}/models`,
        `/v1/providers/${slug}?workspace_id=${workspaceId}`,
        `/v1/providers?workspace_id=${workspaceId}`,
        `/v1/virtual-keys/${slug}?workspace_id=${workspaceId}`,
        `/v1/virtual-keys?workspace_id=${workspaceId}`,
      ]) {
        expect((await ask('GET', path)).status).toBe(200);
      }
    }
    const legacy = {
      name: 'Legacy',
      slug: 'legacy',
      provider: 'bedrock',
      key: secret('vk'),
      workspace_id: workspaceId,
      customHost: 'https://a.example.com',
      customHeaders: { 'x-plain': secret('vk-header') },
      awsAccessKeyId: secret('vk-id'),
      awsSecretAccessKey: secret('vk-access'),
      awsRegion: 'eu-west-1',
      vertexServiceAccountJson: secret('vk-account'),
      azureEntraClientSecret: secret('vk-entra'),
    };
    expect((await ask('POST', '/v1/virtual-keys', legacy)).status).toBe(200);
    expect((await ask('POST', '/v1/virtual-keys', legacy)).status).toBe(409);
    await ask('GET', `/v1/virtual-keys/legacy?workspace_id=${workspaceId}`);
    expect(replies.filter((text) => text.includes(canary))).toEqual([]);
    expect(replies.length).toBeGreaterThan(50);
  });

  test('no row of the store holds one in the clear, audit rows included', async () => {
    const { db } = storeOf(gateway);
    const found: string[] = [];
    for (const { name } of await db.introspection.getTables()) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
      for (const row of rows) if (JSON.stringify(row).includes(canary)) found.push(`${name}: ${JSON.stringify(row)}`);
    }
    expect(found).toEqual([]);
    const { rows } = await sql`select * from audit_logs where resource_type in ('integration', 'virtual_key')`.execute(
      db,
    );
    expect(rows.length).toBeGreaterThan(10);
  });

  test('the log of the program holds none', () => {
    expect(gateway.faults.filter((line) => line.includes(canary))).toEqual([]);
  });
});
