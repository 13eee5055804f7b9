/** fal.ai: images, by a model of the address. */
import { inPath } from '../compatible/quirks/paths.ts';
import { readImages, writeImages } from '../images.ts';
import { objectsOf, present, textOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { Provider, Steps } from '../provider.ts';
import { asked, inForm } from '../stepping.ts';

const images: Steps = function* (facts) {
  const request = readImages(facts);
  const { prompt, count, size, seed, outputFormat, extras } = request;
  const answer = yield* asked({
    method: 'POST',
    path: `/${inPath(facts.model)}`,
    body: present({ prompt, num_images: count, image_size: size, seed, output_format: outputFormat, ...extras }),
  });
  const urls = objectsOf(answer.images).map(({ url }) => textOf(url) ?? '');
  return writeImages(facts, yield* inForm(urls, request));
};

export const falAi: Provider = {
  id: 'fal-ai',
  name: 'fal.ai',
  address: 'https://fal.run',
  needsCredential: true,
  headers: keyIn('authorization', 'Key '),
  endpoints: { imageGenerate: { steps: images } },
  notes: ['Fields of a model’s own, such as guidance_scale, travel as they are.'],
};
