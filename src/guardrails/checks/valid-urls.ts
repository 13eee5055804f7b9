/** Whether the addresses in an answer exist. */
import { z } from 'zod';
import { defineCheck, excerptOf, failedCheck } from '../check.ts';
import type { CheckIo } from '../io.ts';
import { after } from './events.ts';
import { not } from './fields.ts';

const found = /https?:\/\/[^\s,'"{}[\]<>()`]+/gi;
const timeoutMs = 3_000;
const atOnce = 5;
/** More than this are not asked for; what was not asked for is told. */
const mostUrls = 50;

export const validUrls = defineCheck({
  id: 'default.validUrls',
  title: 'Valid URLs',
  description:
    'Passes when every http address in the answer can be reached; with `onlyDNS`, when its host has an address. Private addresses count as not valid and are not called.',
  category: 'BASIC',
  events: after,
  network: { timeoutMs },
  parameters: () => ({ onlyDNS: z.boolean().default(false), not: not() }),
  example: { onlyDNS: true },
  prepare({ onlyDNS, not: inverted }, setup) {
    return {
      async run({ text }, io) {
        const urls = [...new Set(text.match(found) ?? [])].map((url) => url.replace(/[.;:!?]+$/, ''));
        const validationMethod = onlyDNS ? 'dns' : 'http';
        if (urls.length === 0) {
          const explanation = 'There is no address in the text.';
          return {
            verdict: false,
            data: {
              validUrls: [],
              invalidUrls: [],
              validationMethod,
              not: inverted,
              explanation,
              textExcerpt: excerptOf(text),
            },
          };
        }
        if (urls.length > mostUrls)
          return failedCheck(`the text has more than ${mostUrls} addresses`, false, 'Not scanned');
        const valid = await inTurns(urls, (url) => isValid(url, onlyDNS, io, setup.timeoutMs));
        const invalidUrls = urls.filter((url) => !valid.has(url));
        const verdict = (invalidUrls.length === 0) !== inverted;
        return {
          verdict,
          data: {
            verdict,
            not: inverted,
            validationMethod,
            validUrls: urls.filter((url) => valid.has(url)),
            invalidUrls,
            explanation: `${urls.length - invalidUrls.length} of ${urls.length} addresses are valid.`,
            textExcerpt: excerptOf(text),
          },
        };
      },
    };
  },
});

async function inTurns(urls: readonly string[], isSound: (url: string) => Promise<boolean>): Promise<Set<string>> {
  const sound = new Set<string>();
  const left = [...urls];
  const work = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) if (await isSound(url)) sound.add(url);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return sound;
}

async function isValid(url: string, onlyDNS: boolean, io: CheckIo, limitMs: number): Promise<boolean> {
  const parsed = URL.parse(url);
  if (!parsed) return false;
  try {
    if (onlyDNS) return await io.resolves(parsed.hostname, limitMs);
    const { status } = await io.call({
      url,
      method: 'HEAD',
      headers: {},
      body: null,
      timeoutMs: limitMs,
      redirects: 3,
    });
    return status >= 200 && status <= 299;
  } catch {
    // An address that cannot be reached is what this check looks for.
    return false;
  }
}
