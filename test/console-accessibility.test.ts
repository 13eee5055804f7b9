/** Every page of the console, and its dialogs, as assistive technology meets them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { barriers, browserInstalled, newVisitor, openBrowser, type Visitor } from './browser.ts';
import { startGateway, type TestGateway } from './harness.ts';

describe.if(browserInstalled)('the console has no barrier', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let owner: Visitor;
  let workspaceId: string;

  beforeAll(async () => {
    gateway = await startGateway();
    workspaceId = (await gateway.get('/v1/workspaces')).body.data[0].id;
    browser = await openBrowser();
    owner = await newVisitor(browser, gateway.url);
    await owner.page.goto('/login');
    await owner.page.getByLabel('E-mail address').fill(gateway.owner.email);
    await owner.page.getByLabel('Password', { exact: true }).fill(gateway.owner.password);
    await owner.page.getByRole('button', { name: 'Sign in' }).click();
    await owner.page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const pages = [
    '/',
    '/workspaces',
    '/workspaces/:workspaceId',
    '/workspaces/:workspaceId/members',
    '/users',
    '/invites',
    '/api-keys',
    '/audit-logs',
    '/notices',
    '/settings',
    '/account',
  ];
  for (const path of pages) {
    for (const scheme of ['light', 'dark'] as const) {
      test(`on ${path}, ${scheme}`, async () => {
        const { page } = owner;
        await page.emulateMedia({ colorScheme: scheme });
        await page.goto(path.replace(':workspaceId', workspaceId));
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        expect(await barriers(page)).toEqual([]);
      });
    }
  }

  for (const [path, button] of [
    ['/workspaces', 'New workspace'],
    ['/api-keys', 'New key'],
    ['/invites', 'New invite'],
  ] as const) {
    test(`in the dialog of ${button}`, async () => {
      const { page } = owner;
      await page.goto(path);
      await page.getByRole('button', { name: button }).first().click();
      await page.getByRole('dialog').waitFor();
      expect(await barriers(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    });
  }

  test('and the pages complained about nothing', () => {
    expect(owner.complaints).toEqual([]);
  });
});
