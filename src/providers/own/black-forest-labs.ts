/** Black Forest Labs: images that are asked for, waited for and then read at an address. */
import { inPath } from '../compatible/quirks/paths.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { aspectRatio, type ImageRequest, onlyOne, readImages, writeImages } from '../images.ts';
import { objectOf, present, textOf, wordOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, Steps } from '../provider.ts';
import { asked, inForm, polled } from '../stepping.ts';

const images: Steps = function* (facts) {
  const request = readImages(facts);
  onlyOne(request);
  const task = yield* asked({ method: 'POST', path: `/v1/${inPath(facts.model)}`, body: bodyOf(request, facts) });
  const url = yield* polled({ method: 'GET', path: pollPath(task, facts) }, addressIn);
  return writeImages(facts, yield* inForm([url], request));
};

/** The largest models take a ratio instead of a size. */
function bodyOf({ prompt, size, seed, outputFormat, extras }: ImageRequest, facts: CallFacts): JsonObject {
  const byRatio = /-ultra$|kontext/.test(facts.model);
  return present({
    prompt,
    ...(byRatio ? { aspect_ratio: size && aspectRatio(size) } : { width: size?.width, height: size?.height }),
    seed,
    output_format: outputFormat,
    ...(facts.kind === 'imageEdit' && { input_image: sentImage(facts) }),
    ...extras,
  });
}

function sentImage({ files }: CallFacts): string {
  const image = files.get('image') ?? files.get('image[]');
  if (!image) throw new RequestFault('image', 'image is missing');
  return Buffer.from(image.bytes).toString('base64');
}

/** Only hosts of the provider's own get its key. */
function pollPath({ id, polling_url }: JsonObject, { customHost }: CallFacts): string {
  const address = textOf(polling_url);
  const host = address === null ? null : (URL.parse(address)?.hostname ?? null);
  const own = host !== null && (host.endsWith('.bfl.ai') || host.endsWith('.bfl.ml'));
  return own && address !== null && !customHost ? address : `/v1/get_result?id=${inPath(textOf(id) ?? '')}`;
}

function addressIn({ status, result }: JsonObject): string | null {
  if (status === 'Ready') return textOf(objectOf(result).sample) ?? missing();
  if (status === 'Pending' || status === 'Queued' || status === 'Processing') return null;
  const moderated = typeof status === 'string' && status.endsWith('Moderated');
  throw new ProviderFault(moderated ? 400 : 502, `the image was not made: ${wordOf(status)}`, {
    code: moderated ? 'content_filter' : null,
  });
}

function missing(): never {
  throw new ProviderFault(502, 'the image is said to be ready, but has no address');
}

export const blackForestLabs: Provider = {
  id: 'black-forest-labs',
  name: 'Black Forest Labs',
  address: 'https://api.bfl.ai',
  needsCredential: true,
  headers: keyIn('x-key'),
  endpoints: { imageGenerate: { steps: images }, imageEdit: { steps: images } },
  notes: [
    'Addresses of images are good for ten minutes. One image a call; the ultra and kontext models take the ratio nearest to size.',
  ],
};
