/** A real browser for tests: one Chromium for a file of tests, a fresh context for each visitor, and everything it complained about. */
import { existsSync, readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const executable = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export const browserInstalled = executable !== undefined;

export function openBrowser(): Promise<Browser> {
  if (!executable) throw new Error('No Chromium is installed');
  return chromium.launch({
    executablePath: executable,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Faults of the console itself: uncaught errors, logged errors, and what the content security policy stopped. */
  complaints: string[];
}

/** Somebody who has never been here: no cookie, nothing stored. */
export async function newVisitor(browser: Browser, baseURL: string): Promise<Visitor> {
  const context = await browser.newContext({ baseURL, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser itself logs every answer of 400 and above; whether those are right is for the test to say.
    const aboutAnAnswer = message.text().startsWith('Failed to load resource');
    if ((message.type() === 'error' || message.type() === 'warning') && !aboutAnAnswer) complaints.push(message.text());
  });
  return { page, context, complaints };
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { target: unknown }[];
}

/** What assistive technology would stumble over: the rule and the place. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: tool } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await tool.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${String(target)}`));
  });
}
