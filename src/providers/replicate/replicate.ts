/** Replicate: any model that it hosts, by predictions that are waited for. */
import { aspectRatio, readImages, writeImages } from '../images.ts';
import { listOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { Provider, Steps } from '../provider.ts';
import { inForm } from '../stepping.ts';
import { chat } from './chat.ts';
import { predicted } from './prediction.ts';

const images: Steps = function* (facts) {
  const request = readImages(facts);
  const { prompt, count, size, seed, outputFormat, extras } = request;
  const sized = 'width' in extras || 'aspect_ratio' in extras;
  const { output } = yield* predicted(
    facts.model,
    present({
      prompt,
      aspect_ratio: size && !sized ? aspectRatio(size) : null,
      num_outputs: count > 1 ? count : null,
      seed,
      output_format: outputFormat,
      ...extras,
    }),
  );
  const urls = (Array.isArray(output) ? listOf(output) : [output]).flatMap((url) => textOf(url) ?? []);
  return writeImages(facts, yield* inForm(urls, request));
};

export const replicate: Provider = {
  id: 'replicate',
  name: 'Replicate',
  address: 'https://api.replicate.com/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: { chatComplete: chat, imageGenerate: { steps: images } },
  notes: [
    'The model is owner/name, owner/name:version, the id of a version, or deployments/owner/name.',
    'Chat has a text in and a text out, and no tools. The answer of a model that does not stream is told as a stream when it is whole.',
    'A prediction is cancelled when the client that waits for it, or reads its stream, leaves.',
    'A stream does not tell what it used: its tokens are estimated. Claude and Gemini are told how much to think by a budget of tokens, other models by reasoning_effort.',
    'Images take the ratio nearest to size; a model that wants width and height gets them as further fields.',
    'Everything else is passed through: POST /v1/proxy/predictions.',
  ],
};
