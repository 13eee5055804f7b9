/** Journeys through the web console in a real browser, against the running program. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { browserInstalled, newVisitor, openBrowser, type Visitor } from './browser.ts';
import { dialog, heading, signIn, takeSecret, visit } from './console-pages.ts';
import { startGateway, type TestGateway } from './harness.ts';

const newcomer = { email: 'newcomer@example.com', password: 'a password for newcomers' };

describe.if(browserInstalled)('The console in Chromium', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let owner: Visitor;

  const status = async (key: string): Promise<number> => (await gateway.get('/v1/api-keys', { key })).status;

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await openBrowser();
    owner = await newVisitor(browser, gateway.url);
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test('a wrong password is refused with its reason and the request to quote', async () => {
    const { page } = owner;
    await signIn(page, gateway.owner.email, 'not the password at all');
    const alert = page.getByRole('alert');
    await alert.getByText('Wrong e-mail address or password').waitFor();
    expect(await alert.innerText()).toMatch(/Request [0-9a-f-]{36}/);
    expect(new URL(page.url()).pathname).toBe('/login');
  });

  test('an address that needs a sign-in leads through it and back', async () => {
    const { page } = owner;
    await page.goto('/workspaces');
    await page.waitForURL('**/login?next=%2Fworkspaces');
    await page.getByLabel('E-mail address').fill(gateway.owner.email);
    await page.getByLabel('Password', { exact: true }).fill(gateway.owner.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Workspaces').waitFor();
    expect(new URL(page.url()).pathname).toBe('/workspaces');
  });

  test('a workspace is made, and its name is asked for before the form is sent', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'New workspace' }).click();
    const form = dialog(page, 'New workspace');
    await form.getByRole('button', { name: 'Create workspace' }).click();
    await form.getByText('A workspace needs a name.').waitFor();
    await form.getByLabel('Name').fill('Field research');
    await form.getByLabel('Icon').fill('x');
    await form.getByRole('button', { name: 'Create workspace' }).click();
    // What only the service knows to be wrong stands at its field too.
    await form.getByText('Must be one emoji').waitFor();
    await form.getByLabel('Icon').fill('');
    await form.getByRole('button', { name: 'Create workspace' }).click();
    await heading(page, 'Field research').waitFor();
    const { body } = await gateway.get('/v1/workspaces?exact_name=Field%20research');
    expect(body.total).toBe(1);
  });

  test('a key is made and its secret is shown once', async () => {
    const { page } = owner;
    await visit(page, 'API keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = dialog(page, 'New API key');
    await form.getByRole('combobox', { name: 'Workspace' }).click();
    await page.getByRole('option', { name: 'Field research' }).click();
    await form.getByLabel('Name').fill('Nightly run');
    await form.getByLabel('workspace_service_api_keys.list').check();
    await form.getByRole('button', { name: 'Create key' }).click();
    const secret = await takeSecret(page, 'The key is ready');
    expect(await status(secret)).toBe(200);
    await page.getByRole('button', { name: 'Nightly run', exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    expect(stored).not.toContain(secret);
  });

  test('a rotated key shows its new secret and how long the old one lives', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'Actions for Nightly run' }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    await dialog(page, /Rotate/)
      .getByRole('button', { name: 'Rotate' })
      .click();
    await page.getByText('The old secret stays valid until').waitFor();
    const secret = await takeSecret(page, 'The key was rotated');
    expect(await status(secret)).toBe(200);
    await page.getByText('In transition').waitFor();
  });

  test('somebody invited joins in a browser of their own and sees only what they may', async () => {
    const { page } = owner;
    await visit(page, 'Invites');
    await page.getByRole('button', { name: 'New invite' }).click();
    const form = dialog(page, 'New invite');
    await form.getByLabel('E-mail address').fill(newcomer.email);
    await form.getByRole('combobox', { name: 'Workspace 1', exact: true }).click();
    await page.getByRole('option', { name: 'Field research' }).click();
    await form.getByRole('button', { name: 'Create invite' }).click();
    const link = await dialog(page, 'The invite is ready').getByLabel('Invite link').inputValue();

    const guest = await newVisitor(browser, gateway.url);
    await guest.page.goto(link);
    await guest.page.getByText(`You were invited as ${newcomer.email}`).waitFor();
    await guest.page.getByLabel('First name').fill('New');
    await guest.page.getByLabel('Last name').fill('Comer');
    await guest.page.getByLabel('Password', { exact: true }).fill(newcomer.password);
    await guest.page.getByLabel('Password, once more').fill(newcomer.password);
    await guest.page.getByRole('button', { name: 'Join' }).click();
    await heading(guest.page, 'My organisation').waitFor();
    const navigation = guest.page.getByRole('navigation', { name: 'Main' });
    expect(await navigation.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Workspaces', 'API keys']);
    await guest.page.getByRole('link', { name: 'Field research' }).click();
    await heading(guest.page, 'Field research').waitFor();
    expect(await guest.page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    expect(guest.complaints).toEqual([]);
    await guest.context.close();

    await page.getByRole('button', { name: 'Done' }).click();
    await page.reload();
    await page.getByRole('row', { name: newcomer.email }).getByText('Accepted').waitFor();
  });

  test('an invite is sent again with another link, and cancelled', async () => {
    const { page } = owner;
    const email = 'later@example.com';
    const act = async (action: string) => {
      await page.getByRole('button', { name: `Actions for ${email}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    const takeLink = async () => {
      const shown = dialog(page, 'The invite is ready');
      const link = await shown.getByLabel('Invite link').inputValue();
      await shown.getByRole('button', { name: 'Done' }).click();
      return link;
    };
    const answer = async (link: string) =>
      (await gateway.get(`/v1/invites/${link.split('/').at(-1)}`, { key: '' })).status;

    await page.getByRole('button', { name: 'New invite' }).click();
    const form = dialog(page, 'New invite');
    await form.getByLabel('E-mail address').fill(email);
    await form.getByRole('combobox', { name: 'Workspace 1', exact: true }).click();
    await page.getByRole('option', { name: 'Field research' }).click();
    await form.getByRole('button', { name: 'Create invite' }).click();
    const first = await takeLink();
    expect(await answer(first)).toBe(200);

    await act('Send again');
    const second = await takeLink();
    expect(second).not.toBe(first);
    expect([await answer(first), await answer(second)]).toEqual([404, 200]);

    await act('Cancel');
    const confirm = page.getByRole('alertdialog');
    await confirm.getByText(`The link that was sent to ${email} stops working.`).waitFor();
    await confirm.getByRole('button', { name: 'Cancel the invite' }).click();
    await page.getByText(`The invite of ${email} was cancelled.`).waitFor();
    await page.getByRole('row', { name: email }).getByText('Cancelled').waitFor();
    expect(await page.getByRole('button', { name: `Actions for ${email}` }).count()).toBe(0);
    expect(await answer(second)).toBe(410);
  });

  test('a role is changed in the organisation and in a workspace', async () => {
    const { page } = owner;
    const choose = async (role: string) => {
      await page.getByRole('combobox', { name: 'Role of New Comer' }).click();
      await page.getByRole('option', { name: role }).click();
    };
    const roleOf = async (path: string) => {
      const { body } = await gateway.get(`${path}?email=${newcomer.email}`);
      return body.data[0].role;
    };
    await visit(page, 'Users');
    await choose('Admin');
    await page.getByText('New Comer is admin of the organisation now.').waitFor();
    expect(await roleOf('/v1/users')).toBe('admin');
    await choose('Member');
    await page.getByText('New Comer is member of the organisation now.').waitFor();
    expect(await roleOf('/v1/users')).toBe('member');

    await visit(page, 'Workspaces');
    await page.getByRole('link', { name: 'Field research' }).click();
    await page.getByRole('tab', { name: 'Members' }).click();
    await choose('Manager');
    await page.getByText('New Comer is manager of this workspace now.').waitFor();
    const slug = new URL(page.url()).pathname.split('/')[2];
    expect(await roleOf(`/v1/workspaces/${slug}/users`)).toBe('manager');
  });

  test('a secret that the service made by itself is revealed to its owner, once', async () => {
    await gateway.put('/v1/admin/organisation/settings', { user_api_key_auto_create: true });
    const { body: users } = await gateway.get(`/v1/users?email=${newcomer.email}`);
    const people = [{ id: users.data[0].id, role: 'member' }];
    expect((await gateway.post('/v1/workspaces', { name: 'Annex', users: people })).status).toBe(200);

    const guest = await newVisitor(browser, gateway.url);
    await signIn(guest.page, newcomer.email, newcomer.password);
    await visit(guest.page, 'API keys');
    const reveal = async () => {
      await guest.page.getByRole('button', { name: 'Actions for Default key' }).click();
      await guest.page.getByRole('menuitem', { name: 'Reveal' }).click();
      await guest.page.getByRole('alertdialog').getByRole('button', { name: 'Reveal' }).click();
    };
    await reveal();
    const secret = await takeSecret(guest.page, 'The secret');
    expect((await gateway.get('/v1/models', { key: secret })).status).toBe(200);
    expect(await guest.page.content()).not.toContain(secret);
    await reveal();
    await guest.page.getByText('No secret of this key waits to be revealed').waitFor();
    expect(guest.complaints).toEqual([]);
    await guest.context.close();
  });

  test('editing a key sends what was changed and leaves the rest', async () => {
    const { page } = owner;
    await visit(page, 'API keys');
    await page.getByRole('button', { name: 'Nightly run', exact: true }).click();
    await dialog(page, 'Nightly run').getByRole('button', { name: 'Edit' }).click();
    const form = dialog(page, /^Edit/);
    await form.getByRole('switch', { name: 'Set a budget' }).click({ force: true });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Enter a limit of at least 1.').waitFor();
    await form.getByLabel('Limit', { exact: true }).fill('25');
    await form.getByRole('combobox', { name: 'Rotation' }).click();
    await page.getByRole('option', { name: 'Every month, on day 1' }).click();
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    await dialog(page, 'Nightly run').getByText('$0.00 of $25.00').waitFor();
    await page.keyboard.press('Escape');
    const { body } = await gateway.get('/v1/api-keys?search=Nightly');
    expect(body.data[0]).toMatchObject({
      name: 'Nightly run',
      scopes: ['completions.write', 'prompts.read', 'workspace_service_api_keys.list'],
      usage_limits: { type: 'cost', credit_limit: 25, periodic_reset: 'monthly' },
      rotation_policy: { rotation_period: 'monthly', key_transition_period_ms: 1_800_000 },
    });
  });

  test('a link opens a key wherever it stands in the list', async () => {
    const { page } = owner;
    const { body } = await gateway.get('/v1/api-keys?search=Nightly');
    await page.goto(`/api-keys?type=organisation-service&key=${body.data[0].id}`);
    await dialog(page, 'Nightly run').getByText('$0.00 of $25.00').waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`/api-keys?key=${crypto.randomUUID()}`);
    await page.getByText('This key cannot be opened').waitFor();
  });

  test('a section that the organisation opens can be set in one workspace', async () => {
    const { page } = owner;
    await page.goto('/settings/data');
    await page.getByRole('switch', { name: 'Request logging: workspaces may differ' }).click({ force: true });
    await page.getByText('Workspaces may set their own values here now.').waitFor();
    await visit(page, 'Workspaces');
    await page.getByRole('link', { name: 'Field research' }).click();
    await page.getByRole('tab', { name: 'Settings' }).click();
    const section = page.getByRole('region', { name: 'Request logging' });
    await section.getByRole('combobox', { name: 'Keep' }).click();
    await page.getByRole('option', { name: 'Metrics only' }).click();
    await page.getByText('Saved for this workspace.').waitFor();
    await page.getByRole('region', { name: 'Gateway security' }).getByText('Set by the organisation').waitFor();
    const slug = new URL(page.url()).pathname.split('/')[2];
    const { body } = await gateway.get(`/v1/workspaces/${slug}/settings`);
    expect(body.request_logging).toMatchObject({ value: 'metrics_only', source: 'workspace' });
  });

  test('a workspace is archived only after its name was typed', async () => {
    const { page } = owner;
    await visit(page, 'Workspaces');
    await page.getByRole('link', { name: 'Field research' }).click();
    await page.getByRole('button', { name: 'Archive' }).click();
    const confirm = page.getByRole('alertdialog');
    expect(await confirm.getByRole('button', { name: 'Archive' }).isDisabled()).toBe(true);
    await confirm.getByLabel(/Type/).fill('Field research');
    await confirm.getByRole('button', { name: 'Archive' }).click();
    // Its key is still there, so the service refuses and says why.
    await confirm
      .getByText(/API key/)
      .first()
      .waitFor();
    await confirm.getByLabel('Also delete what is still in it').check();
    await confirm.getByRole('button', { name: 'Archive' }).click();
    await heading(page, 'Workspaces').waitFor();
    await page.getByText('was archived').waitFor();
  });

  test('the audit log tells what was done, and by whom', async () => {
    const { page } = owner;
    await visit(page, 'Audit log');
    await page.getByRole('button', { name: 'Workspace · delete' }).first().click();
    await dialog(page, 'Audit row').getByText('First Owner (owner@gw.local)').waitFor();
    await page.keyboard.press('Escape');
  });

  test('the audit log is filtered by every kind of thing that it tells of', async () => {
    const { page } = owner;
    await page.getByRole('combobox', { name: 'Resource' }).click();
    const offered = await page.getByRole('option').allInnerTexts();
    expect(offered).toEqual(expect.arrayContaining(['API key', 'Integration', 'Config', 'Virtual key']));
    await page.keyboard.press('Escape');
  });

  test('a notice opens with everything that it says', async () => {
    const { page } = owner;
    await visit(page, 'Notices');
    await page.getByRole('button', { name: 'User invite' }).first().click();
    const shown = dialog(page, 'User invite');
    await shown.getByText('Inviter email').waitFor();
    await shown.getByText(gateway.owner.email).waitFor();
    await page.keyboard.press('Escape');
  });

  test('another organisation is made, switched to, and left again', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'Organisation: My organisation' }).click();
    await page.getByRole('menuitem', { name: 'New organisation' }).click();
    await dialog(page, 'New organisation').getByLabel('Name').fill('Second house');
    await dialog(page, 'New organisation').getByRole('button', { name: 'Create organisation' }).click();
    await takeSecret(page, 'The organisation is ready');
    await heading(page, 'Second house').waitFor();
    await visit(page, 'Users');
    await page.getByText('First Owner (you)').waitFor();
    expect(await page.getByText('New Comer').count()).toBe(0);
    await page.getByRole('button', { name: 'Organisation: Second house' }).click();
    await page.getByRole('menuitem', { name: 'My organisation' }).click();
    await heading(page, 'My organisation').waitFor();
  });

  test('a changed password is the one that counts', async () => {
    const { page } = owner;
    await page.getByRole('button', { name: /account of/ }).click();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    const section = page.getByRole('region', { name: 'Password' });
    await section.getByLabel('Present password').fill('surely not this one');
    await section.getByLabel('New password', { exact: true }).fill('another good password');
    await section.getByLabel('New password, once more').fill('another good password');
    await section.getByRole('button', { name: 'Change password' }).click();
    await section.getByText('Is not your password').waitFor();
    await section.getByLabel('Present password').fill(gateway.owner.password);
    await section.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed').waitFor();
    const reply = await gateway.post(
      '/v1/auth/login',
      {
        email: gateway.owner.email,
        password: 'another good password',
      },
      { key: '' },
    );
    expect(reply.status).toBe(200);
  });

  test('every page stands on a narrow screen without sideways scrolling', async () => {
    const { page } = owner;
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [
      '/',
      '/workspaces',
      '/api-keys',
      '/users',
      '/invites',
      '/audit-logs',
      '/notices',
      '/settings',
      '/settings/keys',
      '/settings/data',
      '/settings/permissions',
      '/account',
    ]) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect({ path, overflow: Math.max(0, overflow) }).toEqual({ path, overflow: 0 });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('signing out ends the session, and nothing is left to see', async () => {
    const { page, context, complaints } = owner;
    await page.getByRole('button', { name: /account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in to gw').waitFor();
    expect((await context.cookies()).filter(({ name }) => name === 'gw_session')).toEqual([]);
    await page.goto('/users');
    await heading(page, 'Sign in to gw').waitFor();
    expect(complaints).toEqual([]);
    expect(gateway.faults).toEqual([]);
  });
});
