/** Segmind: images, by a model of the address. */
import { inPath } from '../compatible/quirks/paths.ts';
import { readImages, writeImages } from '../images.ts';
import { listOf, objectOf, present, textOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { CallFacts, Provider, Translation } from '../provider.ts';

/** The same seed would make the same image every time. */
const freshSeed = ({ newId }: CallFacts): number => Number.parseInt(newId('').slice(-7), 16);

const images: Translation = {
  request(facts) {
    const { prompt, count, size, seed, style, extras } = readImages(facts);
    const { steps, ...others } = extras;
    return present({
      prompt,
      samples: count,
      img_width: size?.width,
      img_height: size?.height,
      style,
      num_inference_steps: steps,
      seed: seed ?? freshSeed(facts),
      ...others,
      base64: true,
    });
  },
  response(answer, facts) {
    const { image } = objectOf(answer);
    const made = typeof image === 'string' ? [image] : listOf(image).map((entry) => textOf(entry) ?? '');
    return writeImages(
      facts,
      made.map((base64) => ({ base64 })),
    );
  },
};

export const segmind: Provider = {
  id: 'segmind',
  name: 'Segmind',
  address: 'https://api.segmind.com/v1',
  needsCredential: true,
  headers: keyIn('x-api-key'),
  endpoints: { imageGenerate: { path: ({ model }) => `/${inPath(model)}`, translation: images } },
  notes: ['Images come as b64_json, whatever response_format says. Every request gets a new seed unless it names one.'],
};
