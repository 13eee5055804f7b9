/** Runware: images as a list of tasks, and chat in OpenAI's dialect. */
import { EncodedBody } from '../encoded-body.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { readImages, writeImages } from '../images.ts';
import { listOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, Provider, Translation } from '../provider.ts';

/** Tasks are numbered by a random UUID. */
function taskId({ newId }: CallFacts): string {
  const hex = newId('')
    .replace(/[^0-9a-f]/gi, '')
    .padStart(32, '0')
    .slice(-32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const usualSize = { width: 1024, height: 1024 };

const images: Translation = {
  request(facts) {
    const { prompt, count, size, form, seed, outputFormat, extras } = readImages(facts);
    const task = present({
      taskType: 'imageInference',
      taskUUID: taskId(facts),
      positivePrompt: prompt,
      model: facts.model,
      ...(size ?? usualSize),
      numberResults: count,
      outputType: form === 'b64_json' ? 'base64Data' : 'URL',
      outputFormat: outputFormat?.toUpperCase(),
      seed,
      ...extras,
    });
    return new EncodedBody('application/json', Buffer.from(JSON.stringify([task])));
  },
  response(answer, facts) {
    const { data, errors } = objectOf(answer);
    if (listOf(errors).length > 0) throw faultIn(400, { errors }) ?? new ProviderFault(502, JSON.stringify(errors));
    return writeImages(
      facts,
      objectsOf(data).map(({ imageURL, imageBase64Data }) => {
        const base64 = textOf(imageBase64Data);
        return base64 === null ? { url: textOf(imageURL) ?? '' } : { base64 };
      }),
    );
  },
};

export const runware: Provider = {
  id: 'runware',
  name: 'Runware',
  address: 'https://api.runware.ai/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: { chatComplete: {}, imageGenerate: { path: '', translation: images } },
  notes: [
    'Images are 1024x1024 where size is not set. Fields of a task, such as steps and CFGScale, travel as they are.',
  ],
};
