/** Runway: images as tasks that are waited for. */
import { inPath } from '../compatible/quirks/paths.ts';
import { ProviderFault } from '../faults.ts';
import { onlyOne, readImages, writeImages } from '../images.ts';
import { listOf, present, textOf, wordOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { JsonObject, Provider, Steps } from '../provider.ts';
import { asked, inForm, polled } from '../stepping.ts';

const apiVersion = '2024-11-06';

const images: Steps = function* (facts) {
  const request = readImages(facts);
  onlyOne(request);
  const { prompt, size, seed, extras } = request;
  const { id } = yield* asked({
    method: 'POST',
    path: '/v1/text_to_image',
    body: present({
      model: facts.model,
      promptText: prompt,
      ratio: `${size?.width ?? 1024}:${size?.height ?? 1024}`,
      seed,
      ...extras,
    }),
  });
  const path = `/v1/tasks/${inPath(textOf(id) ?? '')}`;
  const urls = yield* polled({ method: 'GET', path }, outputIn);
  return writeImages(facts, yield* inForm(urls, request));
};

const unfinished = new Set(['PENDING', 'THROTTLED', 'RUNNING']);

function outputIn({ status, output, failure, failureCode }: JsonObject): string[] | null {
  if (status === 'SUCCEEDED') return listOf(output).flatMap((url) => textOf(url) ?? []);
  if (unfinished.has(wordOf(status))) return null;
  const code = textOf(failureCode);
  const held = code?.startsWith('SAFETY') ?? false;
  throw new ProviderFault(held ? 400 : 502, textOf(failure) ?? `the task ended as ${wordOf(status)}`, { code });
}

export const runway: Provider = {
  id: 'runway',
  name: 'Runway',
  address: 'https://api.dev.runwayml.com',
  needsCredential: true,
  headers: (facts) => ({ ...bearer(facts), 'x-runway-version': apiVersion }),
  endpoints: { imageGenerate: { steps: images } },
  notes: [
    'One image a call; size must be one of the ratios that the model knows. Addresses of images are short-lived.',
  ],
};
