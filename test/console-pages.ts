/** What tests of the console do on its pages: sign in, visit, and take a secret that is shown once. */
import { expect } from 'bun:test';
import type { Page } from 'playwright-core';

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
export const visit = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
export const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });

/** The value of a field that is shown once, and the button that ends its showing. */
export async function takeSecret(page: Page, title: string): Promise<string> {
  const shown = dialog(page, title);
  const secret = await shown.getByLabel(/^Secret of/).inputValue();
  await shown.getByRole('button', { name: 'Copy' }).click();
  await shown.getByText('Copied').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await shown.getByRole('button', { name: 'I have kept it' }).click();
  await shown.waitFor({ state: 'hidden' });
  return secret;
}
