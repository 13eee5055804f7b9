/** Single sign-on with a SAML identity provider: who comes in, and every assertion that lets nobody in. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { addOrganisation, addWorkspace, type Home, home, storeOf } from '../people.ts';
import { makeSamlProvider, opensslInstalled, type SamlPerson, type SamlProvider, type Twist } from './saml-provider.ts';
import { verifyDomain, Walker } from './walk.ts';

const settingsPath = '/v1/admin/organisation/auth-settings';

describe.if(opensslInstalled)('single sign-on by SAML', () => {
  let gateway: TestGateway;
  let here: Home;
  let acme: SamlProvider;
  beforeAll(async () => {
    gateway = await startGateway({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
    here = await home(gateway);
    await verifyDomain(gateway, here.organisationId, 'acme.example');
    acme = makeSamlProvider('https://idp.acme.example', await partyMetadata(here.organisationId));
    const saved = await gateway.put(settingsPath, { sso: { type: 'saml', saml: { metadata_xml: acme.metadata } } });
    expect(saved).toMatchObject({
      status: 200,
      body: {
        sso: {
          type: 'saml',
          saml: {
            acs_url: `${gateway.url}/v2/auth/saml/callback/${here.organisationId}`,
            entity_id: `${gateway.url}/v2/auth/saml`,
          },
        },
      },
    });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const partyMetadata = async (organisationId: string): Promise<string> => {
    const reply = await fetch(`${gateway.url}/v2/auth/saml?organisation_id=${organisationId}`);
    expect(reply.headers.get('content-type')).toContain('xml');
    return reply.text();
  };
  const ada: SamlPerson = { email: 'ada@acme.example', attributes: { firstName: 'Ada', lastName: 'Lovelace' } };
  const begin = (walker: Walker) => walker.begin(gateway, { email: ada.email, return_to: '/logs' });
  const acs = (organisationId = here.organisationId) => `${gateway.url}/v2/auth/saml/callback/${organisationId}`;
  /** What a browser posts across sites carries no cookie of ours. */
  const post = (form: Record<string, string>, to = acs()) =>
    fetch(to, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  const selfOf = (walker: Walker) =>
    gateway.get('/v1/auth/self', { key: walker.cookie(gateway.url, 'gw_session') ?? 'none' });

  const enter = async (walker: Walker, person: SamlPerson, twist?: Twist): Promise<Response> => {
    const answered = await post(await acme.answer(await begin(walker), person, twist));
    const location = answered.headers.get('location');
    return location ? walker.step(gateway.url + location) : answered;
  };
  const failure = async (reason: string) => {
    for (;;) {
      const rows = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('action', '=', 'login')
        .execute();
      const row = rows.findLast(({ details }) => details?.includes(reason));
      if (row) return row;
      await Bun.sleep(5);
    }
  };

  test('an assertion signs its person in, in the browser that asked', async () => {
    const walker = new Walker();
    const way = await begin(walker);
    expect(way).toStartWith('https://idp.acme.example/sso?SAMLRequest=');
    const answered = await post(await acme.answer(way, ada));
    expect(answered.status).toBe(303);
    const ticket = gateway.url + (answered.headers.get('location') ?? '');
    const entered = await walker.step(ticket);
    expect([entered.status, entered.headers.get('location')]).toEqual([302, '/logs']);
    expect((await selfOf(walker)).body).toMatchObject({
      user: { email: ada.email, first_name: 'Ada', last_name: 'Lovelace' },
      organisation: { id: here.organisationId, role: 'member' },
    });
    expect((await walker.step(ticket)).status).toBe(400);
    const row = await failure('"method":"saml"');
    expect(row).toMatchObject({ response_status_code: 200, resource_type: 'user' });
  });

  test('a ticket that was begun in another browser opens nothing', async () => {
    const answered = await post(await acme.answer(await begin(new Walker()), ada));
    const thief = new Walker();
    const attempt = await thief.step(gateway.url + (answered.headers.get('location') ?? ''));
    expect(attempt.status).toBe(403);
    expect(thief.cookie(gateway.url, 'gw_session')).toBeUndefined();
  });

  test('attributes give roles', async () => {
    const lab = await addWorkspace(gateway, here.organisationId, 'Lab');
    const mapping = { value: 'lab', workspaces: [{ workspace_id: lab.id, role: 'manager' }] };
    await gateway.put(settingsPath, { sso: { provisioning: { role_claim: 'groups', role_mappings: [mapping] } } });
    const walker = new Walker();
    expect((await enter(walker, { ...ada, attributes: { groups: 'all+lab' } })).status).toBe(302);
    expect((await selfOf(walker)).body.workspaces).toMatchObject([{ slug: lab.slug, role: 'manager' }]);
  });

  const twists: [string, Twist, string][] = [
    ['another audience', { audience: 'https://other.example' }, 'audience'],
    ['another issuer', { issuer: 'https://evil.example' }, 'issuer'],
    ['an end in the past', { minutes: -10 }, 'not accepted'],
    ['another recipient', { recipient: 'https://other.example/acs' }, 'another address'],
    ['an answer to another request', { inResponseTo: '_forged' }, 'InResponseTo'],
  ];
  for (const [what, twist, reason] of twists) {
    test(`an assertion with ${what} is refused and audited`, async () => {
      const walker = new Walker();
      const reply = await enter(walker, ada, twist);
      expect(reply.status).toBe(403);
      expect((await reply.text()).toLowerCase()).toContain(reason.toLowerCase());
      expect((await failure('"method":"saml","reason"')).response_status_code).toBe(403);
      expect(walker.cookie(gateway.url, 'gw_session')).toBeUndefined();
    });
  }

  const decoded = (response: string) => Buffer.from(response, 'base64').toString('utf8');
  const encoded = (xml: string) => Buffer.from(xml).toString('base64');
  const assertionIn = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
  const signatureIn = (xml: string) => /<ds:Signature[\s\S]*?<\/ds:Signature>/.exec(xml)?.[0] ?? '';
  const forged = (xml: string) => assertionIn(xml).replaceAll('ada@acme.example', 'owner@acme.example');
  const tricks: [string, (xml: string) => string][] = [
    ['changed after signing', (xml) => xml.replaceAll('ada@acme.example', 'owner@acme.example')],
    ['without its signature', (xml) => xml.replace(signatureIn(xml), '')],
    ['signed twice', (xml) => xml.replace(signatureIn(xml), signatureIn(xml) + signatureIn(xml))],
    [
      'wrapped beside a forged one',
      (xml) => xml.replace(assertionIn(xml), forged(xml).replace(signatureIn(forged(xml)), '') + assertionIn(xml)),
    ],
    [
      'wrapped inside a forged one',
      (xml) => {
        const outer = forged(xml)
          .replace(signatureIn(forged(xml)), '')
          .replace(/ ID="[^"]+"/, ' ID="_outer"');
        return xml.replace(assertionIn(xml), outer.replace('</saml:Subject>', `</saml:Subject>${assertionIn(xml)}`));
      },
    ],
    ['with a comment inside the address', (xml) => xml.replaceAll('ada@acme.example', 'ada@acme.example<!-- -->.evil')],
    ['behind a document type', (xml) => `<!DOCTYPE a [<!ENTITY b "c">]>${xml}`],
    ['that is no XML', () => 'not xml at all'],
    ['that is empty', () => ''],
  ];
  for (const [what, trick] of tricks) {
    test(`an assertion ${what} is refused`, async () => {
      const walker = new Walker();
      const { SAMLResponse, RelayState } = await acme.answer(await begin(walker), ada);
      const reply = await post({ SAMLResponse: encoded(trick(decoded(SAMLResponse))), RelayState });
      expect({ what, status: reply.status }).toEqual({ what, status: 403 });
    });
  }

  test('an assertion of another provider is refused, also under the first one’s name', async () => {
    const other = makeSamlProvider('https://idp.acme.example', await partyMetadata(here.organisationId));
    const reply = await post(await other.answer(await begin(new Walker()), ada));
    expect(reply.status).toBe(403);
  });

  test('a replayed answer opens nothing: not again, not for another sign-in, not unasked, not elsewhere', async () => {
    const walker = new Walker();
    const form = await acme.answer(await begin(walker), ada);
    expect((await post(form)).status).toBe(303);
    expect((await post(form)).status).toBe(400);
    expect(await failure('used before')).toMatchObject({ response_status_code: 400, resource_type: 'user' });
    const next = await acme.answer(await begin(walker), ada);
    expect((await post({ ...form, RelayState: next.RelayState })).status).toBe(403);
    expect((await post({ SAMLResponse: form.SAMLResponse })).status).toBe(400);
    const tenant = await addOrganisation(gateway);
    const astray = await acme.answer(await begin(walker), ada);
    expect((await post(astray, acs(tenant.organisationId))).status).toBe(403);
  });

  test('a set-up that cannot work is refused by name', async () => {
    const wrong: [string, unknown][] = [
      ['sso.saml.metadata_url', { metadata_xml: '<nothing/>' }],
      ['sso.saml.metadata_url', { metadata_url: 'https://169.254.169.254/metadata' }],
      ['sso.saml.metadata_url', { metadata_url: 'http://127.0.0.1:9/metadata' }],
      ['sso.saml.metadata_url', { metadata_url: null, metadata_xml: null }],
      ['sso.saml.metadata_url', { metadata_xml: acme.metadata.replaceAll('HTTP-Redirect', 'SOAP') }],
    ];
    for (const [path, saml] of wrong) {
      const reply = await gateway.put(settingsPath, { sso: { saml } });
      expect({ saml, status: reply.status, path: reply.body.data?.errors?.[0].path }).toEqual({
        saml,
        status: 400,
        path,
      });
    }
  });

  test('metadata behind an address is read at each sign-in', async () => {
    let document = acme.metadata;
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(document) });
    const saml = { metadata_url: `http://127.0.0.1:${server.port}/metadata` };
    expect((await gateway.put(settingsPath, { sso: { saml } })).body.sso.saml).toMatchObject({ metadata_xml: null });
    expect((await enter(new Walker(), ada)).status).toBe(302);
    acme = makeSamlProvider('https://idp.acme.example', await partyMetadata(here.organisationId));
    document = acme.metadata;
    expect((await enter(new Walker(), ada)).status).toBe(302);
    server.stop(true);
  });
});
