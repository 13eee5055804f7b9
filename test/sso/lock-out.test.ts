/** Nobody is locked out: what is refused while it would leave an organisation without an owner who can sign in. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { addOrganisation, addPerson, signIn, storeOf, type Tenant } from '../people.ts';
import { makeSamlProvider, newCertificate, opensslInstalled, type SamlProvider } from './saml-provider.ts';
import { type IdentityProvider, startIdentityProvider, verifyDomain } from './walk.ts';

const settingsPath = '/v1/admin/organisation/auth-settings';
const domains = '/v1/admin/organisation/email-domains';
const password = 'correct horse battery';

onEachEngine('the last way in', (start) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const save = (tenant: Tenant, sso: object) => gateway.put(settingsPath, { sso }, { key: tenant.adminKey });
  const refusedFor = (path: string) => ({ status: 400, body: { data: { errors: [{ path }] } } });
  /** As if somebody had signed in with the set-up. */
  const verify = (tenant: Tenant) =>
    storeOf(gateway)
      .db.updateTable('auth_settings')
      .set({ sso_verified_at: gateway.clock.now().toISOString(), sso_proven_at: gateway.clock.now().toISOString() })
      .where('organisation_id', '=', tenant.organisationId)
      .execute();

  describe.if(opensslInstalled)('by SAML', () => {
    const entityId = 'https://idp.acme.example';
    let tenant: Tenant;
    let acme: SamlProvider;
    const providerCalled = async (name: string) => {
      const party = await fetch(`${gateway.url}/v2/auth/saml?organisation_id=${tenant.organisationId}`);
      return makeSamlProvider(name, await party.text());
    };
    const keyIn = (metadata: string) =>
      /<KeyDescriptor use="signing">[\s\S]*?<\/KeyDescriptor>/.exec(metadata)?.[0] ?? '';
    beforeAll(async () => {
      tenant = await addOrganisation(gateway);
      acme = await providerCalled(entityId);
      expect((await save(tenant, { type: 'saml', saml: { metadata_xml: acme.metadata } })).status).toBe(200);
      await verify(tenant);
    });

    test('is not exchanged for metadata of another provider while no owner has a password', async () => {
      const other = await providerCalled(entityId);
      const served = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(acme.metadata) });
      const own = newCertificate();
      const changes: [string, object][] = [
        ['another entity id', { metadata_xml: (await providerCalled('https://idp.other.example')).metadata }],
        ['another name of the same', { metadata_xml: acme.metadata.replace(entityId, `${entityId}/new`) }],
        ['another certificate', { metadata_xml: other.metadata }],
        ['another address', { metadata_xml: acme.metadata.replace(`${entityId}/sso`, `${entityId}/other`) }],
        ['an address of metadata', { metadata_url: `http://127.0.0.1:${served.port}/` }],
        ['another certificate of ours', { certificate: own.cert, private_key: own.key }],
      ];
      for (const [what, saml] of changes) {
        expect({ what, ...(await save(tenant, { saml })) }).toMatchObject({ what, ...refusedFor('sso') });
      }
      served.stop(true);
    });

    test('stays verified with metadata that also names the next certificate, which then cannot be dropped', async () => {
      const next = keyIn((await providerCalled(entityId)).metadata);
      const both = acme.metadata.replace(keyIn(acme.metadata), keyIn(acme.metadata) + next);
      const saved = await save(tenant, { saml: { metadata_xml: both } });
      expect(saved.status).toBe(200);
      expect(saved.body.sso.verified_at).not.toBeNull();
      expect(await save(tenant, { saml: { metadata_xml: acme.metadata } })).toMatchObject(refusedFor('sso'));
    });

    test('is exchanged once an owner has a password, and passwords count until the new one works', async () => {
      const owner = await addPerson(gateway, tenant.organisationId, 'owner', { password });
      await gateway.put(settingsPath, { login_method: 'sso_only' }, { key: tenant.adminKey });
      const metadata_xml = (await providerCalled('https://idp.other.example')).metadata;
      const saved = await save(tenant, { saml: { metadata_xml } });
      expect(saved).toMatchObject({ status: 200, body: { sso: { verified_at: null } } });
      const login = await gateway.post('/v1/auth/login', { email: owner.email, password }, { key: '' });
      expect(login.status).toBe(200);
    });
  });

  describe('by OpenID Connect', () => {
    let tenant: Tenant;
    let acme: IdentityProvider;
    beforeAll(async () => {
      tenant = await addOrganisation(gateway);
      acme = await startIdentityProvider([gateway]);
      expect((await save(tenant, acme.sso)).status).toBe(200);
      await verify(tenant);
    });
    afterAll(() => acme.stop());

    test('is neither removed nor left for another provider while no owner has a password', async () => {
      const tenant = await addOrganisation(gateway);
      const other = await startIdentityProvider([gateway]);
      await gateway.put(settingsPath, { sso: other.sso }, { key: tenant.adminKey });
      const removal = await gateway.put(settingsPath, { sso: null }, { key: tenant.adminKey });
      expect(removal).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'sso' }] } } });
      // What nobody has used yet may be mended; what works is left only for something that an owner can do without.
      const mended = { oidc: { ...other.sso.oidc, client_secret: 'another' } };
      expect((await gateway.put(settingsPath, { sso: mended }, { key: tenant.adminKey })).status).toBe(200);
      await storeOf(gateway)
        .db.updateTable('auth_settings')
        .set({ sso_verified_at: gateway.clock.now().toISOString(), sso_proven_at: gateway.clock.now().toISOString() })
        .where('organisation_id', '=', tenant.organisationId)
        .execute();
      const elsewhere = { oidc: { ...other.sso.oidc, issuer_url: acme.url, client_id: 'gateway' } };
      const moved = await gateway.put(settingsPath, { sso: elsewhere }, { key: tenant.adminKey });
      expect(moved).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'sso' }] } } });
      const rotated = { oidc: { client_secret: 'rotated' } };
      expect((await gateway.put(settingsPath, { sso: rotated }, { key: tenant.adminKey })).status).toBe(200);
      // Whoever changes the secret first leaves no sooner.
      const movedLater = await gateway.put(settingsPath, { sso: elsewhere }, { key: tenant.adminKey });
      expect(movedLater).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'sso' }] } } });
      await verifyDomain(gateway, tenant.organisationId, 'tenant.example');
      const domains = '/v1/admin/organisation/email-domains';
      const [domain] = (await gateway.get(domains, { key: tenant.adminKey })).body.data;
      const given = await gateway.delete(`${domains}/${domain.id}`, undefined, { key: tenant.adminKey });
      expect(given).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'emailDomainId' }] } } });
      other.stop();
    });

    test('does not stop asking for the address while no owner has a password', async () => {
      expect(await save(tenant, { oidc: { scopes: ['openid', 'profile'] } })).toMatchObject(refusedFor('sso'));
      const more = await save(tenant, { oidc: { scopes: ['openid', 'email', 'groups'] } });
      expect(more).toMatchObject({ status: 200, body: { sso: { verified_at: null } } });
      await verify(tenant);
    });

    test('does not lose the domain of its owners', async () => {
      await verifyDomain(gateway, tenant.organisationId, 'elsewhere.example');
      await verifyDomain(gateway, tenant.organisationId, 'further.example');
      const { data } = (await gateway.get(domains, { key: tenant.adminKey })).body;
      const idOf = (domain: string) => data.find((row: { domain: string }) => row.domain === domain).id;
      const giveUp = (domain: string) =>
        gateway.delete(`${domains}/${idOf(domain)}`, undefined, { key: tenant.adminKey });
      expect(await giveUp('elsewhere.example')).toMatchObject(refusedFor('emailDomainId'));
      expect((await giveUp('further.example')).status).toBe(200);
    });

    test('does not lose the sub-domains of its owners', async () => {
      const other = await addOrganisation(gateway);
      await save(other, acme.sso);
      await verify(other);
      const { db } = storeOf(gateway);
      await db.updateTable('users').set({ email: 'o@deep.below.example' }).where('id', '=', other.ownerId).execute();
      await verifyDomain(gateway, other.organisationId, 'below.example');
      const [domain] = (await gateway.get(domains, { key: other.adminKey })).body.data;
      const allow = (allow_subdomains: boolean) =>
        gateway.put(`${domains}/${domain.id}`, { allow_subdomains }, { key: other.adminKey });
      expect((await allow(true)).status).toBe(200);
      expect(await allow(false)).toMatchObject(refusedFor('allow_subdomains'));
    });

    test('lets the last owner with a password go, since the others come in by it', async () => {
      const keyed = await addPerson(gateway, tenant.organisationId, 'owner', { password });
      const ask = { key: tenant.adminKey };
      expect((await gateway.delete(`/v1/users/${keyed.userId}`, undefined, ask)).status).toBe(200);
    });
  });

  test('the last owner with a password stays where the others have none and single sign-on does not let them in', async () => {
    const tenant = await addOrganisation(gateway);
    const keyed = await addPerson(gateway, tenant.organisationId, 'owner', { password });
    const heir = await addPerson(gateway, tenant.organisationId, 'member');
    const ask = { key: tenant.adminKey };
    const session = await signIn(gateway, tenant.organisationId, keyed.userId);
    const transfer = (user_id: string) =>
      gateway.post('/v1/admin/organisation/transfer-ownership', { user_id }, { key: session });
    for (const reply of [
      await gateway.delete(`/v1/users/${keyed.userId}`, undefined, ask),
      await gateway.put(`/v1/users/${keyed.userId}`, { role: 'member' }, ask),
      await transfer(heir.userId),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { data: { errorCode: 'AB01' } } });
      expect(reply.body.data.message).toContain('last owner who can sign in');
    }
    expect((await gateway.get(`/v1/users/${heir.userId}`, ask)).body.role).toBe('member');
    const second = await addPerson(gateway, tenant.organisationId, 'member', { password });
    expect((await transfer(second.userId)).status).toBe(200);
  });
});
