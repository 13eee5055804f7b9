/** Fetches pictures that a request points to and puts them into it, for providers that take bytes only. */
import { z } from 'zod';
import { isObject, listOf, objectOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { isOk } from '../ask.ts';
import { defineCheck } from '../check.ts';
import type { CheckIo } from '../io.ts';
import { before } from './events.ts';
import { words } from './fields.ts';

const accepted: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/heic',
  'image/heif',
]);
const atOnce = 5;
const mostImages = 50;
const redirects = 3;

export const inlineImageUrls = defineCheck({
  id: 'default.inlineImageUrls',
  title: 'Inline image URLs',
  description: 'Replaces http addresses of pictures in the request by the pictures themselves.',
  category: 'BASIC',
  events: before,
  requestTypes: ['chatComplete', 'messages', 'createModelResponse'],
  network: { timeoutMs: 30_000 },
  transforms: true,
  parameters: () => ({
    providers: words().default([]),
    maxSizeBytes: z.int().min(1).max(104_857_600).default(20_971_520),
    timeoutMs: z.number().min(1).max(120_000).default(30_000),
    failOnError: z.boolean().default(false),
  }),
  example: { providers: ['bedrock'], maxSizeBytes: 20_971_520 },
  prepare: ({ providers, maxSizeBytes, timeoutMs, failOnError }) => ({
    async run({ request, facts }, io) {
      if (providers.length > 0 && !providers.includes(facts.provider)) {
        return {
          verdict: true,
          data: { inlined: 0, failed: [], explanation: `Not asked for with ${facts.provider}.` },
        };
      }
      const urls = [...new Set(addressesIn(request))];
      const fetched = new Map<string, Picture>();
      const failed: { host: string; reason: string }[] = [];
      const left = urls.slice(0, mostImages);
      for (const url of urls.slice(mostImages))
        failed.push({ host: hostOf(url), reason: `more than ${mostImages} pictures` });
      const work = async () => {
        for (let url = left.shift(); url !== undefined; url = left.shift()) {
          const picture = await pictureAt(url, io, maxSizeBytes, timeoutMs);
          if (typeof picture === 'string') failed.push({ host: hostOf(url), reason: picture });
          else fetched.set(url, picture);
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, left.length) }, work));
      const body = fetched.size > 0 ? (rewritten(request, fetched) as JsonObject) : null;
      const explanation = `${fetched.size} of ${urls.length} pictures were put into the request.`;
      const [first] = failed;
      return {
        verdict: failed.length === 0 || !failOnError,
        data: { inlined: fetched.size, failed, explanation },
        ...(body && { body }),
        ...(first && { error: { name: 'Image Error', message: `${first.host}: ${first.reason}` } }),
      };
    },
  }),
});

interface Picture {
  mime: string;
  base64: string;
}

const isHttp = (url: unknown): url is string => typeof url === 'string' && /^https?:\/\//i.test(url);
const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

/** The address of a picture in a part of a message, in any of the dialects. */
function addressOf(part: JsonObject): string | null {
  if (part.type === 'image_url') {
    const url = typeof part.image_url === 'string' ? part.image_url : objectOf(part.image_url).url;
    return isHttp(url) ? url : null;
  }
  if (part.type === 'input_image') return isHttp(part.image_url) ? part.image_url : null;
  const source = objectOf(part.source);
  return part.type === 'image' && source.type === 'url' && isHttp(source.url) ? source.url : null;
}

const partsHolders = ['messages', 'input', 'content'] as const;

function addressesIn(holder: JsonObject): string[] {
  const own = addressOf(holder);
  if (own) return [own];
  return partsHolders.flatMap((name) =>
    listOf(holder[name]).flatMap((part) => (isObject(part) ? addressesIn(part) : [])),
  );
}

function rewritten(holder: JsonObject, pictures: ReadonlyMap<string, Picture>): JsonObject {
  const url = addressOf(holder);
  const picture = url === null ? undefined : pictures.get(url);
  if (picture) return withPicture(holder, picture);
  let copy: JsonObject | null = null;
  for (const name of partsHolders) {
    const list = holder[name];
    if (!Array.isArray(list)) continue;
    copy ??= { ...holder };
    copy[name] = list.map((part) => (isObject(part) ? rewritten(part, pictures) : part));
  }
  return copy ?? holder;
}

function withPicture(part: JsonObject, { mime, base64 }: Picture): JsonObject {
  const data = `data:${mime};base64,${base64}`;
  if (part.type === 'input_image') return { ...part, image_url: data };
  if (part.type === 'image') return { ...part, source: { type: 'base64', media_type: mime, data: base64 } };
  return { ...part, image_url: { ...objectOf(part.image_url), url: data } };
}

async function pictureAt(url: string, io: CheckIo, maxBytes: number, timeoutMs: number): Promise<Picture | string> {
  try {
    const answer = await io.call({ url, method: 'GET', headers: {}, body: null, timeoutMs, maxBytes, redirects });
    if (!isOk(answer)) return `its server answered ${answer.status}`;
    const mime = answer.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() || sniffed(answer.bytes);
    const type = mime === 'application/octet-stream' ? sniffed(answer.bytes) : mime;
    if (!type || !accepted.has(type)) return 'it is no picture of a known type';
    return { mime: type, base64: Buffer.from(answer.bytes).toString('base64') };
  } catch (fault) {
    return fault instanceof Error ? fault.message : 'it cannot be reached';
  }
}

function sniffed(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG')) return 'image/png';
  if (head.startsWith('GIF8')) return 'image/gif';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  const brand = head.slice(4, 12);
  if (/^ftyp(heic|heix|hevc)/.test(brand)) return 'image/heic';
  return /^ftyp(mif1|msf1|heif)/.test(brand) ? 'image/heif' : null;
}
