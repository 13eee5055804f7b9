/** SiliconFlow. */
import { readImages, writeImages } from '../images.ts';
import { objectOf, objectsOf, present, textOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

const images: Translation = {
  request(facts) {
    const { prompt, size, count, seed, extras } = readImages(facts);
    return present({
      ...extras,
      model: facts.model,
      prompt,
      seed,
      image_size: size && `${size.width}x${size.height}`,
      batch_size: count > 1 ? count : null,
    });
  },
  response: (answer, facts) =>
    writeImages(
      facts,
      objectsOf(objectOf(answer).images).map(({ url }) => ({ url: textOf(url) ?? '' })),
    ),
};

export const siliconflow = openAiCompatible({
  id: 'siliconflow',
  name: 'SiliconFlow',
  address: 'https://api.siliconflow.cn/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens] }),
    ...offered('embed', 'rerank'),
    imageGenerate: { path: '/images/generations', translation: images },
  },
  notes: ['Images come as addresses; num_inference_steps and guidance_scale travel as they are.'],
});
