/** The unchanged client libraries of the reference product administer this service, under their own header prefix. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Portkey } from 'portkey-ai';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addPerson, type Home, home } from '../people.ts';

const python = ['python3', '-c', 'import portkey_ai'];
const pythonInstalled = Bun.which('python3') !== null && Bun.spawnSync(python).exitCode === 0;

let gateway: TestGateway;
let place: Home;

beforeAll(async () => {
  gateway = await startGateway({ HEADER_PREFIX_ALIASES: 'x-portkey-' });
  place = await home(gateway);
});
afterAll(() => gateway.stopWithoutFaults());

test('our headers are answered under the prefix that the client uses, and those of the client count as ours', async () => {
  const ask = (headers: Record<string, string>) => fetch(`${gateway.url}/v1/admin/workspaces`, { headers });
  const aliased = await ask({ 'x-portkey-api-key': gateway.adminKey });
  expect(aliased.status).toBe(200);
  expect(aliased.headers.get('x-portkey-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(aliased.headers.get('x-gw-request-id')).toBeNull();
  const own = await ask({ 'x-gw-api-key': gateway.adminKey, 'x-portkey-api-key': 'wrong' });
  expect(own.status).toBe(200);
  expect((await ask({ 'x-other-api-key': gateway.adminKey })).status).toBe(401);
});

describe('npm', () => {
  // The library's types promise less than it sends and takes; what arrives is looked at instead.
  const client = (apiKey: string): Json => new Portkey({ apiKey, baseURL: `${gateway.url}/v1` });

  test('users, invites, workspaces and members', async () => {
    const admin = client(gateway.adminKey).admin;
    const person = await addPerson(gateway, place.organisationId, 'member');
    expect((await admin.users.list({ email: person.email })).data[0].id).toBe(person.userId);
    expect((await admin.users.retrieve({ userId: person.userId })).email).toBe(person.email);
    await admin.users.update({ userId: person.userId, role: 'admin' });
    await admin.users.update({ userId: person.userId, role: 'member' });

    const workspace = await admin.workspaces.create({ name: 'By client', description: 'x', defaults: {} });
    expect((await admin.workspaces.retrieve({ workspaceId: workspace.id })).name).toBe('By client');
    expect((await admin.workspaces.list({})).total).toBe(2);
    expect((await admin.workspaces.update({ workspaceId: workspace.slug, name: 'Renamed' })).name).toBe('Renamed');
    await admin.workspaces.users.create({ workspaceId: workspace.id, users: [{ id: person.userId, role: 'member' }] });
    const member = { workspaceId: workspace.id, userId: person.userId };
    expect((await admin.workspaces.users.retrieve(member)).role).toBe('member');
    await admin.workspaces.users.update({ ...member, role: 'manager' });
    expect((await admin.workspaces.users.list({ workspaceId: workspace.id })).data[0].role).toBe('manager');
    await admin.workspaces.users.delete(member);

    const workspaces = [{ id: workspace.slug, role: 'member' }];
    const details = { scopes: ['completions.write'] };
    const invite = await admin.users.invites.create({
      email: 'by-client@example.com',
      role: 'member',
      workspaces,
      workspace_api_key_details: details,
    });
    expect((await admin.users.invites.retrieve({ inviteId: invite.id })).email).toBe('by-client@example.com');
    expect((await admin.users.invites.list({})).total).toBe(1);
    await admin.users.invites.resend({ inviteId: invite.id });
    await admin.users.invites.delete({ inviteId: invite.id });
    await admin.users.delete({ userId: person.userId });
    expect((await gateway.get(`/v1/users/${person.userId}`)).body.status).toBe('archived');
  });

  test('API keys, configs, integrations, providers and virtual keys', async () => {
    const portkey = client(gateway.adminKey);
    const key = await portkey.apiKeys.create({
      type: 'workspace',
      'sub-type': 'service',
      name: 'By client',
      workspace_id: place.workspaceId,
      scopes: ['completions.write'],
    });
    expect((await portkey.apiKeys.retrieve({ id: key.id })).name).toBe('By client');
    await portkey.apiKeys.update({ id: key.id, name: 'Renamed' });
    expect((await portkey.apiKeys.list({ workspace_id: place.workspaceId })).total).toBeGreaterThan(0);
    await portkey.apiKeys.delete({ id: key.id });

    const config = await portkey.configs.create({
      name: 'By client',
      config: { retry: { attempts: 2 } },
      workspace_id: place.workspaceId,
    });
    const slug = config.data?.slug ?? config.slug;
    expect((await portkey.configs.retrieve({ slug })).success).toBe(true);
    await portkey.configs.update({ slug, name: 'Renamed' });
    expect((await portkey.configs.list({})).total).toBe(1);
    await portkey.configs.delete({ slug });

    // As the library calls them: no workspace is named.
    const made = await portkey.virtualKeys.create({ name: 'By client', provider: 'openai', key: 'sk-0123456789' });
    expect((await portkey.virtualKeys.retrieve({ slug: made.slug })).name).toBe('By client');
    await portkey.virtualKeys.update({ slug: made.slug, name: 'Renamed' });
    const listed = (await portkey.virtualKeys.list({})).data.map((entry: { name: string }) => entry.name);
    expect(listed).toContain('Renamed');
    await portkey.virtualKeys.delete({ slug: made.slug });

    await portkey.integrations.create({ name: 'By client', ai_provider_id: 'openai', key: 'sk-0123456789' });
    expect((await portkey.integrations.retrieve({ slug: 'by-client' })).name).toBe('By client');
    await portkey.integrations.update({ slug: 'by-client', name: 'Renamed' });
    await portkey.integrations.workspaces.update({
      slug: 'by-client',
      workspaces: [{ id: place.workspaceId, enabled: true }],
    });
    expect((await portkey.integrations.workspaces.list({ slug: 'by-client' })).total).toBe(1);
    await portkey.integrations.models.update({ slug: 'by-client', models: [{ slug: 'gpt-4o', enabled: false }] });
    const models = (await portkey.integrations.models.list({ slug: 'by-client' })).models;
    expect(models.find((model: { slug: string }) => model.slug === 'gpt-4o').enabled).toBe(false);
    await portkey.integrations.delete({ slug: 'by-client' });
  });
});

const script = `
import os, sys
from portkey_ai import Portkey
url, key, workspace, user = sys.argv[1:5]
client = Portkey(api_key=key, base_url=url + "/v1")
assert client.admin.users.retrieve(user_id=user).id == user
assert client.admin.users.list().total >= 1
made = client.admin.workspaces.create(name="By Python", description="x", defaults={})
assert client.admin.workspaces.retrieve(workspace_id=made.id).name == "By Python"
client.admin.workspaces.update(workspace_id=made.id, name="Renamed")
assert client.admin.workspaces.list().total >= 2
client.admin.workspaces.users.create(workspace_id=made.id, users=[{"id": user, "role": "member"}])
client.admin.workspaces.users.update(workspace_id=made.id, user_id=user, role="manager")
client.admin.workspaces.users.delete(workspace_id=made.id, user_id=user)
invite = client.admin.users.invites.create(email="by-python@example.com", role="member", workspaces=[], workspace_api_key_details={"scopes": ["completions.write"]})
client.admin.users.invites.retrieve(invite_id=invite.id)
client.admin.users.invites.delete(invite_id=invite.id)
api_key = client.api_keys.create(type="workspace", sub_type="service", name="By Python", workspace_id=workspace, scopes=["completions.write"])
assert client.api_keys.retrieve(id=api_key.id).name == "By Python"
client.api_keys.update(id=api_key.id, name="Renamed")
client.api_keys.delete(id=api_key.id)
virtual = client.virtual_keys.create(name="By Python", provider="openai", key="sk-0123456789")
slug = virtual.slug if getattr(virtual, "slug", None) else virtual.data["slug"]
assert client.virtual_keys.retrieve(slug=slug).name == "By Python"
client.virtual_keys.update(slug=slug, name="Renamed")
client.virtual_keys.list()
client.virtual_keys.delete(slug=slug)
client.integrations.create(name="By Python", ai_provider_id="openai", key="sk-0123456789")
assert client.integrations.retrieve(slug="by-python").name == "By Python"
client.integrations.models.update(slug="by-python", models=[{"slug": "gpt-4o", "enabled": True}])
client.integrations.delete(slug="by-python")
print("done")
`;

test.if(pythonInstalled)('PyPI: its admin methods', async () => {
  const child = Bun.spawn(
    ['python3', '-c', script, gateway.url, gateway.adminKey, place.workspaceId, place.owner.userId],
    { stderr: 'pipe' },
  );
  const [said, faults] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([said.trim(), faults]).toEqual(['done', '']);
});
