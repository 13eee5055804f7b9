/** Hyperbolic. */
import { readImages, writeImages } from '../images.ts';
import { objectOf, objectsOf, present, textOf } from '../json.ts';
import { openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

const images: Translation = {
  request(facts) {
    const { prompt, size, count, seed, extras } = readImages(facts);
    return present({
      ...extras,
      model_name: facts.model,
      prompt,
      seed,
      width: size?.width,
      height: size?.height,
      num_images: count > 1 ? count : null,
    });
  },
  response: (answer, facts) =>
    writeImages(
      facts,
      objectsOf(objectOf(answer).images).map(({ image }) => ({ base64: textOf(image) ?? '' })),
    ),
};

export const hyperbolic = openAiCompatible({
  id: 'hyperbolic',
  name: 'Hyperbolic',
  address: 'https://api.hyperbolic.xyz/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens] }),
    imageGenerate: { path: '/image/generation', translation: images },
  },
  notes: ['Images come as b64_json, whatever response_format says.'],
});
