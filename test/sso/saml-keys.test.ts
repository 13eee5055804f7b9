/** SAML with a certificate of our own: signed requests, encrypted assertions, and single logout from either side. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createVerify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { startGateway, type TestGateway } from '../harness.ts';
import { type Home, home, storeOf } from '../people.ts';
import { makeSamlProvider, newCertificate, opensslInstalled, type SamlProvider } from './saml-provider.ts';
import { verifyDomain, Walker } from './walk.ts';

const settingsPath = '/v1/admin/organisation/auth-settings';
const entityId = 'https://idp.acme.example';
const ada = { email: 'ada@acme.example' };

describe.if(opensslInstalled)('SAML with our own certificate', () => {
  let gateway: TestGateway;
  let here: Home;
  let acme: SamlProvider;
  const own = opensslInstalled ? newCertificate() : { key: '', cert: '' };

  beforeAll(async () => {
    gateway = await startGateway({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
    here = await home(gateway);
    await verifyDomain(gateway, here.organisationId, 'acme.example');
    acme = makeSamlProvider(entityId, await partyMetadata());
    expect((await save({ metadata_xml: acme.metadata })).status).toBe(200);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const save = (saml: object) => gateway.put(settingsPath, { sso: { type: 'saml', saml } });
  const partyMetadata = async () =>
    (await fetch(`${gateway.url}/v2/auth/saml?organisation_id=${here.organisationId}`)).text();
  const begin = (walker: Walker) => walker.begin(gateway, { email: ada.email });
  const acs = () => `${gateway.url}/v2/auth/saml/callback/${here.organisationId}`;
  const logoutUrl = () => `${gateway.url}/v2/auth/saml/logout/${here.organisationId}`;
  const post = (to: string, form: Record<string, string>) =>
    fetch(to, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  const selfOf = (key: string) => gateway.get('/v1/auth/self', { key });

  /** Signs in with what `changed` makes of the answer, and gives the session's token; null where nobody is let in. */
  const signIn = async (
    changed: (response: string) => Promise<string>,
    sessionIndexes: string[] = [],
  ): Promise<string | null> => {
    const walker = new Walker();
    const { SAMLResponse, RelayState } = await acme.answer(await begin(walker), { ...ada, sessionIndexes });
    const answered = await post(acs(), { SAMLResponse: await changed(SAMLResponse), RelayState });
    const location = answered.headers.get('location');
    if (!location) return null;
    await walker.step(gateway.url + location);
    return walker.cookie(gateway.url, 'gw_session') ?? null;
  };
  const asItIs = async (response: string) => response;
  const rows = async (action: 'login' | 'manage', word: string) => {
    for (;;) {
      const found = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('action', '=', action)
        .execute();
      const row = found.findLast(({ details }) => details?.includes(word));
      if (row) return row;
      await Bun.sleep(5);
    }
  };

  test('without a certificate requests are unsigned, and a provider that wants them signed is refused', async () => {
    expect(new URL(await begin(new Walker())).searchParams.get('Signature')).toBeNull();
    const wants = makeSamlProvider(entityId, await partyMetadata(), { wantsSignedRequests: true });
    const refused = await save({ metadata_xml: wants.metadata });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('wants signed requests');
  });

  test('a certificate and its key are saved together, and only if they fit; the key is never shown', async () => {
    const other = newCertificate();
    const faults: [object, string][] = [
      [{ certificate: own.cert }, 'sso.saml.private_key'],
      [{ private_key: own.key }, 'sso.saml.certificate'],
      [{ certificate: own.cert, private_key: other.key }, 'sso.saml.private_key'],
      [{ certificate: 'no certificate', private_key: own.key }, 'sso.saml.certificate'],
      [{ certificate: own.cert, private_key: 'no key' }, 'sso.saml.private_key'],
    ];
    for (const [saml, path] of faults) {
      expect((await save(saml)).body.data.errors).toMatchObject([{ path }]);
    }
    const saved = await save({ certificate: own.cert, private_key: own.key });
    expect(saved).toMatchObject({
      status: 200,
      body: { sso: { saml: { private_key_set: true, certificate: own.cert.trim(), logout_url: logoutUrl() } } },
    });
    const stored = JSON.stringify([
      saved.body,
      await storeOf(gateway).db.selectFrom('audit_logs').selectAll().execute(),
    ]);
    expect(stored).not.toContain('PRIVATE KEY');
    const metadata = await partyMetadata();
    expect(metadata).toContain('use="signing"');
    expect(metadata).toContain('use="encryption"');
    expect(metadata).toContain(logoutUrl());
    acme = makeSamlProvider(entityId, metadata, { wantsSignedRequests: true });
    expect((await save({ metadata_xml: acme.metadata })).status).toBe(200);
  });

  test('requests are signed with the key of the certificate', async () => {
    const { search } = new URL(await begin(new Walker()));
    const [signed = '', signature = ''] = search.slice(1).split('&Signature=');
    const verified = createVerify('RSA-SHA256')
      .update(signed)
      .verify(own.cert, decodeURIComponent(signature), 'base64');
    expect(verified).toBe(true);
  });

  test('an encrypted assertion signs its person in', async () => {
    const key = await signIn((response) => acme.encrypted(response));
    expect((await selfOf(key ?? 'none')).body.user.email).toBe(ada.email);
    expect(await signIn(asItIs)).toBeString();
  });

  const edited = (response: string, edit: (xml: string) => string) =>
    Buffer.from(edit(Buffer.from(response, 'base64').toString('utf8'))).toString('base64');
  const tricks: [string, (response: string) => Promise<string>][] = [
    [
      'whose cipher text was changed',
      async (response) => edited(await acme.encrypted(response), (xml) => xml.replace(/(CipherValue>.{40})./, '$1!')),
    ],
    [
      'that is encrypted with RSA 1.5',
      async (response) =>
        edited(await acme.encrypted(response), (xml) => xml.replaceAll('xmlenc#rsa-oaep-mgf1p', 'xmlenc#rsa-1_5')),
    ],
    [
      'that was changed before it was encrypted',
      async (response) => acme.encrypted(edited(response, (xml) => xml.replaceAll(ada.email, 'owner@acme.example'))),
    ],
    [
      'that was encrypted without a signature',
      async (response) =>
        acme.encrypted(edited(response, (xml) => xml.replace(/<ds:Signature[\s\S]*?<\/ds:Signature>/, ''))),
    ],
  ];
  for (const [what, trick] of tricks) {
    test(`an encrypted assertion ${what} is refused, and audited without saying how far it got`, async () => {
      expect(await signIn(trick)).toBeNull();
      await rows('login', 'encrypted');
    });
  }

  test('leaving here leads to the provider with a signed request, and its answer leads back', async () => {
    const key = (await signIn(asItIs)) ?? '';
    const left = await gateway.post('/v1/auth/logout', undefined, { key });
    const url = new URL(left.body.redirect_url);
    expect(url.href).toStartWith(`${entityId}/logout?SAMLRequest=`);
    expect(url.searchParams.get('Signature')).toBeString();
    const request = inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
    expect(request).toContain(`>${ada.email}</saml:NameID>`);
    expect((await selfOf(key)).status).toBe(401);
    const back = await fetch(`${logoutUrl()}?SAMLResponse=whatever`, { redirect: 'manual' });
    expect([back.status, back.headers.get('location')]).toEqual([303, '/']);
  });

  test.each(['redirect', 'post'] as const)('the provider ends the sessions of a person by %s', async (binding) => {
    const first = (await signIn(asItIs)) ?? '';
    const second = (await signIn((response) => acme.encrypted(response))) ?? '';
    const message = acme.logout(ada.email, binding);
    const reply =
      binding === 'redirect'
        ? await fetch(`${logoutUrl()}?${message}`, { redirect: 'manual' })
        : await post(logoutUrl(), { SAMLRequest: message, RelayState: 'there' });
    expect(reply.status).toBe(303);
    expect(reply.headers.get('location')).toStartWith(`${entityId}/logout?SAMLResponse=`);
    expect([(await selfOf(first)).status, (await selfOf(second)).status]).toEqual([401, 401]);
    expect(await rows('manage', 'identity provider')).toMatchObject({ resource_type: 'user' });
  });

  test.each(['redirect', 'post'] as const)(
    'of the sessions of a person, those end that the provider names by %s, and no others',
    async (binding) => {
      const opened = [['one'], ['two'], ['two'], ['three', 'four & "more"'], ['five']];
      const keys = await Promise.all(opened.map(async (indexes) => (await signIn(asItIs, indexes)) ?? ''));
      const leave = async (indexes: string[]) => {
        const message = acme.logout(ada.email, binding, indexes);
        const reply =
          binding === 'redirect'
            ? await fetch(`${logoutUrl()}?${message}`, { redirect: 'manual' })
            : await post(logoutUrl(), { SAMLRequest: message });
        expect(reply.status).toBe(303);
        return Promise.all(keys.map(async (key) => (await selfOf(key)).status));
      };
      expect(await leave(['of somebody else'])).toEqual([200, 200, 200, 200, 200]);
      expect(await leave(['one', 'four & "more"'])).toEqual([401, 200, 200, 401, 200]);
      expect(await leave(['none', 'two'])).toEqual([401, 401, 401, 401, 200]);
      expect(await leave([])).toEqual([401, 401, 401, 401, 401]);
    },
  );

  test('leaving here names the session at the provider', async () => {
    const key = (await signIn(asItIs, ['one'])) ?? '';
    const left = await gateway.post('/v1/auth/logout', undefined, { key });
    const sent = new URL(left.body.redirect_url).searchParams.get('SAMLRequest') ?? '';
    expect(inflateRawSync(Buffer.from(sent, 'base64')).toString()).toContain('>one</saml2p:SessionIndex>');
  });

  test('a request to log somebody out that the provider did not sign ends nothing, and is audited', async () => {
    const key = (await signIn(asItIs)) ?? '';
    const other = makeSamlProvider(entityId, await partyMetadata());
    const signed = acme.logout(ada.email, 'redirect');
    const queries: [string, string][] = [
      ['without a signature', signed.replace(/&SigAlg.*/, '')],
      ['of somebody else', other.logout(ada.email, 'redirect')],
      ['with another message beside the signed one', `${acme.logout('x@acme.example', 'redirect')}&${signed}`],
      ['that is no message', 'SAMLRequest=nonsense&SigAlg=a&Signature=b'],
    ];
    for (const [what, query] of queries) {
      const { status } = await fetch(`${logoutUrl()}?${query}`, { redirect: 'manual' });
      expect({ what, status }).toEqual({ what, status: 403 });
    }
    const unsigned = edited(acme.logout(ada.email, 'post'), (xml) =>
      xml.replace(/<ds:Signature[\s\S]*<\/ds:Signature>/, ''),
    );
    expect((await post(logoutUrl(), { SAMLRequest: unsigned })).status).toBe(403);
    expect((await post(logoutUrl(), { SAMLRequest: other.logout(ada.email, 'post') })).status).toBe(403);
    await rows('login', 'not signed');
    expect((await selfOf(key)).status).toBe(200);
  });
});
