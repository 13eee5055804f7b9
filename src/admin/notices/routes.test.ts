/** Reading the outbox. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, type Home, home, storeOf, type Tenant } from '../../../test/people.ts';
import { queueNotice } from './outbox.ts';
import { showFields } from './show.ts';

onEachEngine('notices', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
  });

  afterAll(() => gateway.stopWithoutFaults());

  test('a queued invite is shown with its link cut short', async () => {
    const { body } = await gateway.post('/v1/users/invites', { email: 'shown@example.com', role: 'member' });
    const list = await gateway.get('/v1/admin/notices');
    expect(list.status).toBe(200);
    expect(list.body.data[0]).toEqual({
      object: 'notice',
      id: expect.any(String),
      template: 'user-invite',
      recipients: ['shown@example.com'],
      fields: {
        organisationName: 'My organisation',
        inviterUserName: 'First admin key',
        inviterEmail: '',
        inviteLink: `${gateway.url}/invites/****`,
      },
      status: 'queued',
      attempts: 0,
      next_attempt_at: null,
      last_error: null,
      created_at: expect.any(String),
      sent_at: null,
    });
    expect(JSON.stringify(list.body)).not.toContain(body.invite_link.split('/').at(-1));
  });

  test('newest first, in pages, and only those of the organisation', async () => {
    for (const email of ['one@example.com', 'two@example.com']) {
      await gateway.post('/v1/users/invites', { email, role: 'member' });
    }
    const { body } = await gateway.get('/v1/notices?page_size=1');
    expect(body.data[0].recipients).toEqual(['two@example.com']);
    expect(body.total).toBeGreaterThanOrEqual(2);
    expect((await gateway.get('/v1/notices', { key: elsewhere.adminKey })).body).toMatchObject({ total: 0, data: [] });
  });

  test('sent ones are shown when asked for', async () => {
    await gateway.post('/v1/users/invites', { email: 'sent@example.com', role: 'member' });
    const { db } = storeOf(gateway);
    const sent_at = gateway.clock.now().toISOString();
    await db
      .updateTable('notices')
      .set({ status: 'sent', sent_at })
      .where('recipients', '=', JSON.stringify(['sent@example.com']))
      .execute();
    const { body } = await gateway.get('/v1/notices?status=sent');
    expect(body.data).toMatchObject([{ recipients: ['sent@example.com'], status: 'sent', sent_at }]);
    expect((await gateway.get('/v1/notices?status=lost')).status).toBe(400);
  });

  test('one that was sealed under another master key is listed without its fields', async () => {
    const now = gateway.clock.now();
    await queueNotice(storeOf(gateway).db, { seal: () => 'v1.broken', open: () => '' }, now, {
      organisationId: place.organisationId,
      template: 'user-invite',
      recipients: ['sealed@example.com'],
      fields: { organisationName: '', inviterUserName: '', inviterEmail: '', inviteLink: '' },
    });
    expect((await gateway.get('/v1/notices')).body.data[0]).toMatchObject({
      recipients: ['sealed@example.com'],
      fields: null,
    });
  });

  test('is open to owners, admins and admin keys with the scope, and to nobody else', async () => {
    const { organisationId } = place;
    const admin = await addPerson(gateway, organisationId, 'admin');
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [place.workspaceId]: 'admin' } });
    const other = await addKey(gateway, {
      organisationId,
      type: 'organisation-service',
      scopes: ['organisation_users.list'],
    });
    const statusFor = async (key: string) => (await gateway.get('/v1/admin/notices', { key })).status;
    expect(await statusFor(place.owner.session)).toBe(200);
    expect(await statusFor(admin.session)).toBe(200);
    expect(await statusFor(member.session)).toBe(403);
    expect(await statusFor(other.secret)).toBe(403);
    expect(await statusFor(gateway.workspaceKey)).toBe(403);
    expect(await statusFor('')).toBe(401);
  });
});

describe('what is shown of a field', () => {
  test.each([
    ['inviteLink', 'https://gw.example/invites/abcdef', 'https://gw.example/invites/****'],
    ['link', 'https://gw.example/a/b?token=abcdef#x', 'https://gw.example/a/****'],
    ['verificationLink', 'no address', '****'],
    ['verificationCode', '123456', '****'],
    ['apiKey', 'abcdefghijklmnopqrstuvwxyz', 'ab****yz'],
    ['apiKey', 'ab*******yz', 'ab****yz'],
    ['keyName', 'My key', 'My key'],
    ['organisationName', 'Acme', 'Acme'],
  ])('%s: %s is shown as %s', (name, value, shown) => {
    expect(showFields({ [name]: value })).toEqual({ [name]: shown });
  });
});
