/** Imagen: pictures as predictions, at AI Studio and on Vertex AI. */
import { ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { aspectRatio, type MadeImage, readImages, writeImages } from '../images.ts';
import { objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4'];

export const imagen: Translation = {
  request: (facts) => ({
    instances: [{ prompt: readImages(facts).prompt }],
    parameters: parametersOf(facts),
  }),
  response(answer, facts) {
    const predictions = objectsOf(objectOf(answer).predictions);
    const images = predictions.flatMap(imageOf);
    const reasons = predictions.flatMap(({ raiFilteredReason }) => textOf(raiFilteredReason) ?? []);
    if (images.length > 0) return writeImages(facts, images);
    throw new ProviderFault(400, reasons.join('; ') || 'no image came back: the prompt or its images were filtered', {
      code: 'content_policy_violation',
    });
  },
};

function parametersOf(facts: CallFacts): JsonObject {
  const fields = new Fields(facts.body);
  const { count, size, seed, outputFormat, quality } = readImages(facts);
  return present({
    sampleCount: count,
    aspectRatio: fields.text('aspect_ratio') ?? fields.text('aspectRatio') ?? (size && aspectRatio(size, ratios)),
    sampleImageSize: fields.text('sample_image_size'),
    seed,
    negativePrompt: fields.text('negative_prompt') ?? fields.text('negativePrompt'),
    personGeneration: fields.text('person_generation') ?? fields.text('personGeneration'),
    safetySetting: fields.text('safety_setting') ?? fields.text('safetySetting'),
    addWatermark: fields.flag('add_watermark') ?? fields.flag('addWatermark'),
    enhancePrompt: fields.flag('enhance_prompt') ?? fields.flag('enhancePrompt'),
    language: fields.text('language'),
    storageUri: fields.text('storage_uri') ?? fields.text('storageUri'),
    outputOptions: outputOptions(outputFormat, quality, fields.number('output_compression')),
  });
}

/** Only JPEG has a quality. */
function outputOptions(format: string | null, quality: string | null, asked: number | null): JsonObject | null {
  const compression = asked ?? (quality === 'hd' || quality === 'high' ? 100 : quality === null ? null : 75);
  if (format === null && compression === null) return null;
  const mimeType = `image/${(format ?? 'jpeg').replace('jpg', 'jpeg')}`;
  return present({ mimeType, compressionQuality: mimeType === 'image/jpeg' ? compression : null });
}

function imageOf({ bytesBase64Encoded, gcsUri, prompt }: JsonObject): MadeImage[] {
  const base64 = textOf(bytesBase64Encoded);
  const url = textOf(gcsUri);
  const revisedPrompt = textOf(prompt);
  if (base64 === null && url === null) return [];
  return [
    {
      ...(base64 !== null && { base64 }),
      ...(url !== null && { url }),
      ...(revisedPrompt !== null && { revisedPrompt }),
    },
  ];
}
