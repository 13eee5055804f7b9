import { expect, test } from 'bun:test';
import { callFacts } from '../../../test/call-facts.ts';
import type { JsonObject } from '../provider.ts';
import { voyage } from './voyage.ts';

const asked = (body: JsonObject) => {
  const facts = callFacts({ kind: 'embed', model: 'voyage-multimodal-3.5', body });
  const { embed } = voyage.endpoints;
  const endpoint = typeof embed === 'function' ? embed(facts) : embed;
  return [endpoint?.path, endpoint?.translation?.request?.(facts)];
};

test('the length of the vectors is asked for, of texts and of images', () => {
  expect(asked({ input: ['a'], dimensions: 256 })).toEqual([
    '/embeddings',
    { model: 'voyage-multimodal-3.5', input: ['a'], output_dimension: 256 },
  ]);
  expect(asked({ input: [{ text: 'a', image: { url: 'https://x.test/a.png' } }], dimensions: 256 })).toEqual([
    '/multimodalembeddings',
    {
      model: 'voyage-multimodal-3.5',
      inputs: [
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: 'https://x.test/a.png' },
          ],
        },
      ],
      output_dimension: 256,
    },
  ]);
});
