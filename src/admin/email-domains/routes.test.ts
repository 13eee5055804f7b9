/** E-mail domains over HTTP: claiming, proving, changing and giving up. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, type Home, home, storeOf } from '../../../test/people.ts';
import { decode } from '../../store/json.ts';
import { organisationOfAddress } from './match.ts';

const path = '/v1/admin/organisation/email-domains';

onEachEngine('e-mail domains', (start) => {
  let gateway: TestGateway;
  let here: Home;
  /** What the simulated name servers hold. */
  const zone = new Map<string, string[][]>();

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
    gateway.app.services.resolveTxt = async (name) => {
      const records = zone.get(name);
      if (!records) throw Object.assign(new Error(`queryTxt ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      return records;
    };
  });
  afterAll(() => gateway.stopWithoutFaults());

  const claim = (domain: string, allow_subdomains?: boolean, key?: string) =>
    gateway.post(path, { domain, allow_subdomains }, key === undefined ? {} : { key });
  const verify = (id: string, body: unknown, key?: string) =>
    gateway.post(`${path}/${id}/verify`, body, key === undefined ? {} : { key });
  const prove = async (domain: string, allowSubdomains = false, key?: string) => {
    const { body } = await claim(domain, allowSubdomains, key);
    zone.set(domain, [['v=spf1 -all'], ['gw-domain-', `verification=${body.verification_code}`]]);
    expect((await verify(body.id, { method: 'dns' }, key)).status).toBe(200);
    return body.id as string;
  };
  const noticesAbout = async (domain: string) => {
    const { store, vault } = gateway.app.services;
    const rows = await store.db
      .selectFrom('notices')
      .selectAll()
      .where('template', '=', 'domain-verification-alert')
      .execute();
    return rows
      .map((row) => ({ to: decode(row.recipients), fields: JSON.parse(vault.open(row.fields_sealed, 'notice')) }))
      .filter((notice) => notice.fields.domain === domain);
  };

  test('a claimed domain waits for its proof, and shows the code for it', async () => {
    const reply = await claim(' Acme.COM ');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      object: 'email_domain',
      id: expect.any(String),
      domain: 'acme.com',
      allow_subdomains: false,
      status: 'pending',
      verification_code: expect.any(String),
      verified_at: null,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    });
    expect((await claim('acme.com')).status).toBe(409);
  });

  test('names that prove nothing or are no names are refused', async () => {
    const wrong = [
      '',
      'acme',
      'acme..com',
      '-acme.com',
      'acme.com.',
      'ac me.com',
      '@acme.com',
      '127.0.0.1',
      'münchen.de',
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(130)}com`,
      'co.uk',
      'gmail.com',
      'mx.googlemail.com',
    ];
    for (const domain of wrong) {
      const reply = await claim(domain);
      expect([domain, reply.status]).toEqual([domain, 400]);
      expect(reply.body.data.errors[0].path).toBe('domain');
    }
    expect((await gateway.post(path, {})).status).toBe(400);
    expect((await gateway.post(path, { domain: 'fine.example', allow_subdomains: 'yes' })).status).toBe(400);
  });

  test('sub-domains can be let in below a root domain only', async () => {
    for (const root of ['root-one.com', 'root-two.co.uk', 'xn--mnchen-3ya.de']) {
      expect((await claim(root, true)).body.allow_subdomains).toBe(true);
    }
    for (const below of ['mail.root-one.com', 'a.b.root-two.co.uk']) {
      const reply = await claim(below, true);
      expect(reply.status).toBe(400);
      expect(reply.body.data.errors[0].path).toBe('allow_subdomains');
      expect((await claim(below, false)).status).toBe(200);
    }
  });

  test('a TXT record with the code proves the domain', async () => {
    const { body: claimed } = await claim('dns.example');
    expect((await verify(claimed.id, { method: 'dns' })).status).toBe(400);
    zone.set('dns.example', [['something else']]);
    const early = await verify(claimed.id, { method: 'dns' });
    expect(early.status).toBe(400);
    expect(early.body.data.message).toContain('holds the verification code');
    zone.set('dns.example', [[claimed.verification_code]]);
    const reply = await verify(claimed.id, { method: 'dns' });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ status: 'verified', verification_code: null, verified_at: expect.any(String) });
    zone.delete('dns.example');
    expect((await verify(claimed.id, { method: 'dns' })).body.status).toBe('verified');
  });

  test('owners and admins are told; only a mailbox of the domain gets a code that can be typed in', async () => {
    const inside = await addPerson(gateway, here.organisationId, 'admin', { email: 'ada@mailed.example' });
    await addPerson(gateway, here.organisationId, 'member', { email: 'member@mailed.example' });
    const { body: claimed } = await claim('mailed.example');
    const notices = await noticesAbout('mailed.example');
    const typed = notices.find((notice) => notice.fields.method === 'code');
    const told = notices.find((notice) => notice.fields.method === 'dns');
    expect(typed?.to).toEqual([inside.email]);
    expect(told?.to).toContain(gateway.owner.email);
    expect([...(typed?.to ?? []), ...(told?.to ?? [])]).not.toContain('member@mailed.example');
    expect(told?.fields.verificationCode).toBe(claimed.verification_code);
    expect(told?.fields.organisationName).toBe('My organisation');

    for (const code of [claimed.verification_code, 'guess']) {
      const reply = await verify(claimed.id, { method: 'code', code });
      expect(reply.status).toBe(400);
      expect(reply.body.data.errors[0].path).toBe('code');
    }
    const reply = await verify(claimed.id, { method: 'code', code: typed?.fields.verificationCode });
    expect(reply.status).toBe(200);
    expect(reply.body.status).toBe('verified');
  });

  test('a proof needs a method that exists', async () => {
    const { body: claimed } = await claim('method.example');
    for (const body of [{}, { method: 'trust' }, { method: 'code' }, undefined]) {
      expect((await verify(claimed.id, body)).status).toBe(400);
    }
  });

  test('two organisations may claim a domain, one can have it', async () => {
    const elsewhere = await addOrganisation(gateway);
    const { body: theirs } = await claim('contested.example', false, elsewhere.adminKey);
    await prove('contested.example');
    expect((await claim('contested.example', false, (await addOrganisation(gateway)).adminKey)).status).toBe(409);
    zone.set('contested.example', [[theirs.verification_code]]);
    const late = await verify(theirs.id, { method: 'dns' }, elsewhere.adminKey);
    expect(late.status).toBe(409);
    expect(late.body.data.errorCode).toBe('AB07');
  });

  test('an address belongs to its exact domain first, then to the nearest one that lets sub-domains in', async () => {
    const elsewhere = await addOrganisation(gateway);
    const { db } = storeOf(gateway);
    await prove('tree.example', true);
    await prove('closed.example');
    await prove('branch.tree.example', false, elsewhere.adminKey);
    await claim('pending.example', true);
    expect(await organisationOfAddress(db, 'A@Tree.example')).toBe(here.organisationId);
    expect(await organisationOfAddress(db, 'a@x.y.tree.example')).toBe(here.organisationId);
    expect(await organisationOfAddress(db, 'a@branch.tree.example')).toBe(elsewhere.organisationId);
    expect(await organisationOfAddress(db, 'a@x.branch.tree.example')).toBe(here.organisationId);
    expect(await organisationOfAddress(db, 'a@closed.example')).toBe(here.organisationId);
    expect(await organisationOfAddress(db, 'a@x.closed.example')).toBeNull();
    expect(await organisationOfAddress(db, 'a@nottree.example')).toBeNull();
    expect(await organisationOfAddress(db, 'a@pending.example')).toBeNull();
  });

  test('letting sub-domains in can be changed, under the same rule', async () => {
    const [root, below] = [(await claim('change.example')).body, (await claim('sub.change.example')).body];
    const change = (id: string, body: unknown) => gateway.put(`${path}/${id}`, body);
    const reply = await change(root.id, { allow_subdomains: true });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ id: root.id, allow_subdomains: true });
    expect((await change(root.id, { allow_subdomains: false })).body.allow_subdomains).toBe(false);
    expect((await change(below.id, { allow_subdomains: true })).status).toBe(400);
    expect((await change(root.id, {})).status).toBe(400);
  });

  test('the list is newest first and paged', async () => {
    const { adminKey } = await addOrganisation(gateway);
    for (const domain of ['one.example', 'two.example', 'three.example']) {
      await claim(domain, false, adminKey);
      gateway.clock.advance({ seconds: 1 });
    }
    const list = async (query: string) => (await gateway.get(`${path}?${query}`, { key: adminKey })).body;
    const domains = (body: { data: { domain: string }[] }) => body.data.map((record) => record.domain);
    const whole = await list('');
    expect([whole.object, whole.total]).toEqual(['list', 3]);
    expect(domains(whole)).toEqual(['three.example', 'two.example', 'one.example']);
    const second = await list('page_size=2&current_page=1');
    expect([second.total, domains(second)]).toEqual([3, ['one.example']]);
  });

  test('giving a domain up frees its name', async () => {
    const id = await prove('given-up.example');
    const reply = await gateway.delete(`${path}/${id}`);
    expect([reply.status, reply.body]).toEqual([200, {}]);
    expect(await organisationOfAddress(storeOf(gateway).db, 'a@given-up.example')).toBeNull();
    expect((await claim('given-up.example', false, (await addOrganisation(gateway)).adminKey)).status).toBe(200);
    expect((await gateway.delete(`${path}/${id}`)).status).toBe(404);
  });

  test('the audit trail tells what happened to a domain', async () => {
    const id = await prove('audited.example');
    await gateway.put(`${path}/${id}`, { allow_subdomains: true });
    await gateway.delete(`${path}/${id}`);
    const rows = await storeOf(gateway)
      .db.selectFrom('audit_logs')
      .select(['resource_type', 'action'])
      .where('resource_id', '=', id)
      .orderBy('timestamp')
      .orderBy('id')
      .execute();
    expect(rows.map((row) => `${row.resource_type}.${row.action}`)).toEqual([
      'organisation.create',
      'organisation.update',
      'organisation.update',
      'organisation.delete',
    ]);
  });

  test('another tenant’s domain and one that does not exist are 404, no id at all is 404 too', async () => {
    const { adminKey } = await addOrganisation(gateway);
    const { body: ours } = await claim('ours.example');
    for (const [id, key] of [
      [ours.id, adminKey],
      [Bun.randomUUIDv7(), gateway.adminKey],
    ]) {
      const replies = [
        await gateway.put(`${path}/${id}`, { allow_subdomains: true }, { key }),
        await verify(id, { method: 'dns' }, key),
        await gateway.delete(`${path}/${id}`, undefined, { key }),
      ];
      for (const reply of replies) {
        expect(reply.status).toBe(404);
        expect(reply.body.data.errorCode).toBe('AB08');
      }
    }
    const malformed = await gateway.delete(`${path}/not-an-id`);
    expect([malformed.status, malformed.body.data.errorCode]).toEqual([404, 'AB02']);
  });

  test('only those who hold the scope on the organisation may look or change', async () => {
    const { body: claimed } = await claim('guarded.example');
    const member = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'admin' },
    });
    const reader = await addKey(gateway, {
      organisationId: here.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_settings.read'],
    });
    expect((await gateway.get(path, { key: reader.secret })).status).toBe(200);
    expect((await gateway.get(path, { key: here.owner.session })).status).toBe(200);
    const statuses = async (key: string) => [
      (await gateway.get(path, { key })).status,
      (await claim('denied.example', false, key)).status,
      (await gateway.put(`${path}/${claimed.id}`, { allow_subdomains: true }, { key })).status,
      (await verify(claimed.id, { method: 'dns' }, key)).status,
      (await gateway.delete(`${path}/${claimed.id}`, undefined, { key })).status,
    ];
    expect(await statuses(reader.secret)).toEqual([200, 403, 403, 403, 403]);
    expect(await statuses(member.session)).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses(gateway.workspaceKey)).toEqual([403, 403, 403, 403, 403]);
    expect(await statuses('')).toEqual([401, 401, 401, 401, 401]);
  });
});
