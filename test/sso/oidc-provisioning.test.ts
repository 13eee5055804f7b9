/** Whom single sign-on with a real OpenID provider makes a member, and with which role and workspaces. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { addOrganisation, addWorkspace, type Home } from '../people.ts';
import { type OidcWorld, password, settingsPath, startOidc } from './oidc-world.ts';
import { type IdentityProvider, Walker } from './walk.ts';

onEachEngine('single sign-on by OpenID Connect', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let acme: IdentityProvider;
  let signIn: OidcWorld['signIn'];
  let selfOf: OidcWorld['selfOf'];

  beforeAll(async () => {
    ({ gateway, here, acme, signIn, selfOf } = await startOidc(start));
  });
  afterAll(async () => {
    acme.stop();
    await gateway.stopWithoutFaults();
  });

  test('an invite is accepted by signing in, with its role and workspaces', async () => {
    const workspace = await addWorkspace(gateway, here.organisationId, 'Invited');
    const invite = await gateway.post('/v1/admin/users/invites', {
      email: 'ina@acme.example',
      role: 'admin',
      workspaces: [{ id: workspace.slug, role: 'manager' }],
    });
    expect(invite.status).toBe(200);
    const walker = new Walker();
    expect((await signIn('ina@acme.example', walker)).status).toBe(302);
    expect((await selfOf(walker)).body.organisation.role).toBe('admin');
    expect((await gateway.get(`/v1/admin/users/invites/${invite.body.id}`)).body.status).toBe('accepted');
  });

  test('whoever accepted for the address elsewhere, without proof, neither keeps its owner out nor comes in after them', async () => {
    const theirs = await addOrganisation(gateway);
    const email = 'squatted@acme.example';
    const invite = await gateway.post('/v1/admin/users/invites', { email, role: 'admin' }, { key: theirs.adminKey });
    const token = invite.body.invite_link.split('/').at(-1);
    const details = { password, first_name: 'Not', last_name: 'Vic' };
    const accepted = await gateway.post(`/v1/invites/${token}/accept`, details, { key: '' });
    expect(accepted.status).toBe(200);
    const open = (more: object = {}) => gateway.post('/v1/auth/login', { email, password, ...more }, { key: '' });
    const session: string = (await open()).body.token;
    const organisationOf = async (key: string) => (await gateway.get('/v1/auth/self', { key })).body.organisation.id;
    expect(await organisationOf(session)).toBe(theirs.organisationId);

    const walker = new Walker();
    expect((await signIn(email, walker)).status).toBe(302);
    const self = await selfOf(walker);
    expect(self.body).toMatchObject({ user: { email }, organisation: { id: here.organisationId, role: 'member' } });

    const target = { organisation_id: here.organisationId };
    const onward = (key: string) => gateway.post('/v1/auth/switch-organisation', target, { key });
    expect((await onward(session)).status).toBe(404);
    const again = await open();
    expect(await organisationOf(again.body.token)).toBe(theirs.organisationId);
    expect((await onward(again.body.token)).status).toBe(404);
    expect((await open(target)).status).toBe(401);
  });

  test('without auto-provisioning only the invited come in, and the removed stay out', async () => {
    await gateway.put(settingsPath, { disable_auto_provision_user: true });
    expect((await signIn('new@acme.example')).status).toBe(403);
    await gateway.put(settingsPath, { disable_auto_provision_user: false });
    const walker = new Walker();
    expect((await signIn('leaver@acme.example', walker)).status).toBe(302);
    const { id } = (await selfOf(walker)).body.user;
    expect((await gateway.delete(`/v1/admin/users/${id}`)).status).toBe(200);
    expect((await selfOf(walker)).status).toBe(401);
    expect((await signIn('leaver@acme.example')).status).toBe(403);
  });

  test('new people get the default workspaces; claims give roles and take them again', async () => {
    const team = await addWorkspace(gateway, here.organisationId, 'Team');
    const lab = await addWorkspace(gateway, here.organisationId, 'Lab');
    const saved = await gateway.put(
      settingsPath,
      {
        sso: {
          provisioning: {
            default_workspaces: [{ workspace_id: team.slug, role: 'member' }],
            role_claim: 'groups',
            role_mappings: [
              { value: 'admins', organisation_role: 'admin' },
              { value: 'lab', workspaces: [{ workspace_id: lab.id, role: 'manager' }] },
            ],
          },
        },
      },
      { key: here.owner.session },
    );
    expect(saved.body.sso.provisioning.default_workspaces).toEqual([{ workspace_id: team.id, role: 'member' }]);
    const standing = async (person: string) => {
      const walker = new Walker();
      expect((await walker.signIn(gateway, person, { email: person.split(';')[0] })).status).toBe(302);
      const { organisation, workspaces } = (await selfOf(walker)).body;
      return { role: organisation.role, workspaces: workspaces.map((w: { slug: string }) => w.slug) };
    };
    expect(await standing('bo@acme.example')).toEqual({ role: 'member', workspaces: [team.slug] });
    expect(await standing('bo@acme.example;groups=lab')).toEqual({ role: 'member', workspaces: [team.slug, lab.slug] });
    expect((await standing('bo@acme.example;groups=admins+lab')).role).toBe('admin');
    expect(await standing('bo@acme.example;groups=other')).toEqual({ role: 'member', workspaces: [team.slug] });
    await gateway.put(settingsPath, {
      sso: { provisioning: { role_claim: null, role_mappings: [], default_workspaces: [] } },
    });
  });
});
