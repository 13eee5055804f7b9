/** Single sign-on in a real browser: the sign-in page shows the way, the provider signs in, the console opens, and back. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { barriers, browserInstalled, newVisitor, openBrowser } from '../browser.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { addPerson, type Home, home } from '../people.ts';
import { type IdentityProvider, startIdentityProvider, verifyDomain } from './walk.ts';

const settingsPath = '/v1/admin/organisation/auth-settings';
describe.if(browserInstalled)('single sign-on in Chromium', () => {
  let gateway: TestGateway;
  let here: Home;
  let acme: IdentityProvider;
  let browser: Browser;
  beforeAll(async () => {
    gateway = await startGateway({ TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
    here = await home(gateway);
    acme = await startIdentityProvider([gateway]);
    await verifyDomain(gateway, here.organisationId, 'acme.example');
    await gateway.put(settingsPath, { sso: acme.sso, login_method: 'sso_only' });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    acme?.stop();
    await gateway?.stop();
  });

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const sso = (page: Page) => page.getByRole('button', { name: 'Continue with single sign-on' });

  test('an address of the company leads to its provider, and back to the page that was wanted', async () => {
    const { page, complaints } = await newVisitor(browser, gateway.url);
    await page.goto('/account');
    await page.getByLabel('E-mail address').fill('ada@acme.example');
    await page.keyboard.press('Tab');
    await sso(page).waitFor();
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await sso(page).click();
    await heading(page, 'Acme').waitFor();
    await page.getByLabel('Account').fill('ada@acme.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await heading(page, 'Account').waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    await page.getByRole('button', { name: /account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(`${acme.url}/session/end**`);
    expect((await page.context().cookies(gateway.url)).map(({ name }) => name)).not.toContain('gw_session');
    expect(complaints).toEqual([]);
  });

  test('Enter in the address alone finds the way too, and a refusal says why', async () => {
    const { page } = await newVisitor(browser, gateway.url);
    await page.goto('/login');
    await page.getByLabel('E-mail address').fill('eve@acme.example');
    await page.keyboard.press('Enter');
    await heading(page, 'Acme').waitFor();
    await page.getByLabel('Account').fill('eve@other.example');
    await page.getByRole('button', { name: 'Continue' }).click();
    await heading(page, 'Sign-in not possible').waitFor();
    await page.getByText('is not verified for this organisation').waitFor();
  });

  test('an owner comes in by password where single sign-on is forced', async () => {
    const password = 'correct horse battery';
    await addPerson(gateway, here.organisationId, 'owner', { email: 'boss@acme.example', password });
    const { page } = await newVisitor(browser, gateway.url);
    await page.goto('/login');
    await page.getByLabel('E-mail address').fill('boss@acme.example');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'I am an owner and use my password' }).click();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: /account of/ }).waitFor();
  });

  test('an address without a way of its own is asked for its password', async () => {
    const { page } = await newVisitor(browser, gateway.url);
    await page.goto('/login');
    await page.getByLabel('E-mail address').fill('somebody@nowhere.example');
    await page.keyboard.press('Enter');
    await page.getByText('Enter your password.').waitFor();
  });
});
