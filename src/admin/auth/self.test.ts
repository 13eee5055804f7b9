/** Who am I, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, addPerson, addWorkspace, archiveWorkspace, type Home, home } from '../../../test/people.ts';

onEachEngine('GET /auth/self', (start) => {
  let gateway: TestGateway;
  let here: Home;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const self = (key: string, query = '') => gateway.get(`/v1/auth/self${query}`, { key });

  test('an owner sees the organisation, every workspace as admin, and every scope', async () => {
    const { body, status } = await self(here.owner.session);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'self',
      auth_type: 'session',
      user: { id: here.owner.userId, email: gateway.owner.email, first_name: 'First', last_name: 'Owner' },
      organisation: { id: here.organisationId, role: 'owner' },
      workspace_id: here.workspaceId,
      csrf_token: expect.any(String),
      session_expires_at: expect.any(String),
    });
    expect(body.workspaces[0]).toMatchObject({ id: here.workspaceId, name: 'Shared Team Workspace', role: 'admin' });
    expect(body.scopes).toContain('organisation_settings.update');
    expect(body.scopes).toContain('completions.write');
    expect(Object.keys(body.user)).not.toContain('password_hash');
  });

  test('a member sees their own workspaces, and the scopes of the one they ask for', async () => {
    const [lab, shop] = [
      await addWorkspace(gateway, here.organisationId, 'Lab'),
      await addWorkspace(gateway, here.organisationId, 'Shop'),
    ];
    const person = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [lab.id]: 'member', [shop.id]: 'manager' },
    });
    const whole = await self(person.session);
    expect(whole.body.workspaces.map(({ slug, role }: { slug: string; role: string }) => [slug, role])).toEqual([
      [lab.slug, 'member'],
      [shop.slug, 'manager'],
    ]);
    expect(whole.body.workspace_id).toBe(lab.id);
    expect(whole.body.scopes).not.toContain('configs.create');
    expect(whole.body.scopes).toContain('organisations.read');
    const shopping = await self(person.session, `?workspace_id=${shop.slug}`);
    expect(shopping.body.workspace_id).toBe(shop.id);
    expect(shopping.body.scopes).toContain('configs.create');
    expect(shopping.body.scopes).not.toContain('organisation_settings.read');
  });

  test('a person in no workspace has none, and only sees that the organisation exists', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    const { body } = await self(person.session);
    expect(body).toMatchObject({ workspaces: [], workspace_id: null, scopes: ['organisations.read'] });
  });

  test('a workspace outside the person’s reach: 403 in the same organisation, 404 elsewhere or archived', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    expect((await self(person.session, `?workspace_id=${here.workspaceId}`)).status).toBe(403);
    const elsewhere = await addOrganisation(gateway);
    expect((await self(person.session, `?workspace_id=${elsewhere.workspaceId}`)).status).toBe(404);
    const old = await addWorkspace(gateway, here.organisationId, 'Old');
    await archiveWorkspace(gateway, old.id);
    expect((await self(person.session, `?workspace_id=${old.id}`)).status).toBe(404);
  });

  test('API keys and callers without a credential are refused with 401', async () => {
    for (const key of [gateway.adminKey, gateway.workspaceKey, '', 'gws_unknown']) {
      const reply = await self(key);
      expect(reply.status).toBe(401);
      expect(reply.body.data.errorCode).toBe('AB05');
    }
  });
});
