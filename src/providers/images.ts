/** Images: the canonical request to make or edit them, and the canonical answer. */
import { ProviderFault, RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import type { CallFacts, JsonObject } from './provider.ts';

interface ImageSize {
  width: number;
  height: number;
}

export interface ImageRequest {
  prompt: string;
  count: number;
  /** Null where the provider may choose. */
  size: ImageSize | null;
  /** Null where the client did not say. */
  form: 'url' | 'b64_json' | null;
  outputFormat: string | null;
  quality: string | null;
  style: string | null;
  seed: number | null;
  /** Fields that OpenAI does not know, for the provider. */
  extras: JsonObject;
}

const known = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'response_format',
  'output_format',
  'quality',
  'style',
  'seed',
  'user',
  'stream',
  'background',
  'moderation',
  'output_compression',
  'partial_images',
]);

/** Also reads the text fields of a form, where numbers are written as text. */
export function readImages({ body: json, stream }: CallFacts): ImageRequest {
  const body = new Fields(json);
  if (stream) throw new RequestFault('stream', 'this provider does not stream images');
  const form = body.text('response_format');
  if (form !== null && form !== 'url' && form !== 'b64_json') {
    throw new RequestFault('response_format', 'response_format must be url or b64_json');
  }
  return {
    prompt: body.needText('prompt'),
    count: countOf(json.n),
    size: sizeOf(body.text('size')),
    form,
    outputFormat: body.text('output_format'),
    quality: body.text('quality'),
    style: body.text('style'),
    seed: wholeNumber(json.seed, 'seed'),
    extras: body.others(known),
  };
}

const mostImages = 10;

function countOf(value: unknown): number {
  const count = wholeNumber(value, 'n') ?? 1;
  if (count >= 1 && count <= mostImages) return count;
  throw new RequestFault('n', `n must be between 1 and ${mostImages}`);
}

function wholeNumber(value: unknown, name: string): number | null {
  if (value === undefined || value === null || value === '') return null;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number)) return number;
  throw new RequestFault(name, `${name} must be a whole number`);
}

function sizeOf(size: string | null): ImageSize | null {
  if (size === null || size === 'auto') return null;
  const match = /^(\d{2,5})x(\d{2,5})$/.exec(size);
  if (match) return { width: Number(match[1]), height: Number(match[2]) };
  throw new RequestFault('size', 'size must be written as 1024x1024, or be auto');
}

/** For providers that make one image a call. */
export function onlyOne({ count }: ImageRequest): void {
  if (count > 1) throw new RequestFault('n', 'this model makes one image a call: leave n out, or set it to 1');
}

const usualRatios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '5:4', '4:5', '21:9', '9:21'];

/** The ratio that comes closest to the size. */
export function aspectRatio({ width, height }: ImageSize, offered: readonly string[] = usualRatios): string {
  const wanted = Math.log(width / height);
  const distance = (ratio: string): number => {
    const [wide = 1, high = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(wide / high) - wanted);
  };
  return offered.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

export interface MadeImage {
  url?: string;
  base64?: string;
  revisedPrompt?: string | null;
}

/** An answer without any image is none. */
export function writeImages(
  { now, provider }: CallFacts,
  images: readonly MadeImage[],
  more: JsonObject = {},
): JsonObject {
  const made = images.filter(({ url, base64 }) => url || base64);
  if (made.length === 0) throw new ProviderFault(502, 'the answer holds no image');
  return {
    created: now(),
    data: made.map(({ url, base64, revisedPrompt }) => ({
      ...(base64 && { b64_json: base64 }),
      ...(url && { url }),
      ...(revisedPrompt && { revised_prompt: revisedPrompt }),
    })),
    provider,
    ...more,
  };
}
