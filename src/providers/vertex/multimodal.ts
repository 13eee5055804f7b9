/** The embedding model for text, images and video: an input is an object, and so is its answer. */
import { readDataUrl } from '../chat/media.ts';
import { MissingFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { listOf, numberOf, objectIn, objectOf, objectsOf, present } from '../json.ts';
import type { CallFacts, JsonObject, Steps } from '../provider.ts';
import { mayBeRead } from '../stored-files.ts';
import { modelMethod } from './place.ts';

/** One input a call is all that the model takes. */
export function* multimodalEmbeddings(facts: CallFacts): ReturnType<Steps> {
  const { input } = facts.body;
  const instances = (Array.isArray(input) ? input : [input]).map((entry: unknown, index) =>
    instanceOf(entry, Array.isArray(input) ? `input[${index}]` : 'input', facts),
  );
  const dimension = new Fields(facts.body).number('dimensions');
  const answers = yield {
    calls: instances.map((instance) => ({
      method: 'POST',
      path: modelMethod(facts, 'predict'),
      body: { instances: [instance], ...(dimension !== null && { parameters: { dimension } }) },
    })),
  };
  const predictions = answers.map(({ bytes }) => objectOf(objectsOf(objectIn(bytes).predictions)[0]));
  return {
    object: 'list',
    data: predictions.map(entryOf),
    model: facts.model,
    // The service counts none.
    usage: { prompt_tokens: 0, total_tokens: 0 },
    provider: facts.provider,
  };
}

function instanceOf(entry: unknown, path: string, facts: CallFacts): JsonObject {
  if (typeof entry === 'string') return { text: entry };
  const fields = Fields.of(entry, path);
  const image = fields.object('image');
  const video = fields.object('video');
  return present({
    text: fields.text('text'),
    image: image && imageOf(image, facts),
    video: video && {
      ...imageOf(video, facts),
      ...segmentOf(video),
    },
  });
}

/** Bytes, or an object of Google's storage. */
function imageOf(media: Fields, facts: CallFacts): JsonObject {
  const base64 = media.text('base64') ?? media.text('bytesBase64Encoded');
  if (base64 !== null) return { bytesBase64Encoded: readDataUrl(base64)?.base64 ?? base64 };
  const url = media.text('url') ?? media.text('gcsUri') ?? '';
  const inline = readDataUrl(url);
  if (inline) return { bytesBase64Encoded: inline.base64 };
  if (url.startsWith('gs://')) {
    if (!mayBeRead(url, facts)) throw new MissingFault('file', media.path);
    return { gcsUri: url };
  }
  throw new RequestFault(media.path, `${media.path} needs base64, or a url that begins with gs:// or data:`);
}

function segmentOf(video: Fields): JsonObject {
  const segment = present({
    startOffsetSec: video.number('start_offset'),
    endOffsetSec: video.number('end_offset'),
    intervalSec: video.number('interval'),
  });
  return Object.keys(segment).length > 0 ? { videoSegmentConfig: segment } : {};
}

const numbers = (value: unknown): number[] | null =>
  Array.isArray(value) ? listOf(value).flatMap((each) => numberOf(each) ?? []) : null;

/** The vector of the text stands where every other model's does; of what else was sent, under its own name. */
function entryOf({ textEmbedding, imageEmbedding, videoEmbeddings }: JsonObject, index: number): JsonObject {
  const image = numbers(imageEmbedding);
  const videos = objectsOf(videoEmbeddings).map(({ startOffsetSec, endOffsetSec, embedding }) =>
    present({ start_offset: startOffsetSec, end_offset: endOffsetSec, embedding }),
  );
  return {
    object: 'embedding',
    embedding: numbers(textEmbedding) ?? image ?? videos[0]?.embedding ?? [],
    index,
    ...(image && { image_embedding: image }),
    ...(videos.length > 0 && { video_embeddings: videos }),
  };
}
