/** Pictures by Gemini's image models: drawn from words, or from other pictures. Each call draws one. */
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { aspectRatio, type MadeImage, readImages, writeImages } from '../images.ts';
import { objectIn, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Steps, Usage } from '../provider.ts';
import { noUsage, summedUsage } from '../usage.ts';
import { blockReason } from './answer.ts';
import { usageOf } from './usage.ts';

const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '5:4', '4:5', '21:9'];

/** `path` is where content is generated. */
export const drawing = (path: (facts: CallFacts) => string): Steps =>
  function* (facts) {
    const body = requestOf(facts);
    const call = { method: 'POST', path: path(facts), body };
    const answers = yield { calls: Array.from({ length: readImages(facts).count }, () => call) };
    const bodies = answers.map(({ bytes }) => objectIn(bytes));
    const images = bodies.flatMap(imagesIn);
    if (images.length === 0) throw noImage(bodies);
    return writeImages(facts, images, { usage: usageAnswer(bodies.map((each) => usageOf(each.usageMetadata))) });
  };

function requestOf(facts: CallFacts): JsonObject {
  const fields = new Fields(facts.body);
  const { prompt, size } = readImages(facts);
  if (facts.files.has('mask'))
    throw new RequestFault('mask', 'this model takes no mask: say in the prompt what to change');
  const imageConfig = present({
    aspectRatio: fields.text('aspect_ratio') ?? (size && aspectRatio(size, ratios)),
    imageSize: fields.text('image_size'),
  });
  return {
    contents: [{ role: 'user', parts: [...picturesIn(facts), { text: prompt }] }],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  };
}

const picturesIn = ({ files }: CallFacts): JsonObject[] =>
  [...files]
    .filter(([name]) => /^image(\[\d*\])?$/.test(name))
    .map(([, { contentType, bytes }]) => ({
      inlineData: { mimeType: contentType, data: Buffer.from(bytes).toString('base64') },
    }));

const partsIn = (body: JsonObject): readonly JsonObject[] =>
  objectsOf(body.candidates).flatMap((candidate) => objectsOf(objectOf(candidate.content).parts));

const imagesIn = (body: JsonObject): MadeImage[] =>
  partsIn(body).flatMap(({ inlineData, thought }) => {
    const base64 = textOf(objectOf(inlineData).data);
    return base64 === null || thought === true ? [] : [{ base64 }];
  });

/** The model said why, or the service did. */
function noImage(bodies: readonly JsonObject[]): ProviderFault {
  const said = bodies.flatMap(partsIn).flatMap(({ text }) => textOf(text) ?? []);
  const reasons = bodies.flatMap((body) =>
    [blockReason(body), ...objectsOf(body.candidates).map(({ finishReason }) => textOf(finishReason))].filter(
      (reason) => reason !== null,
    ),
  );
  const words = said.join('') || 'the model drew nothing';
  return new ProviderFault(400, reasons.length > 0 ? `${words} (${reasons.join(', ')})` : words, {
    code: 'content_policy_violation',
  });
}

function usageAnswer(usages: readonly (Usage | null)[]): JsonObject {
  const total = usages.reduce<Usage>((sum, usage) => (usage ? summedUsage(sum, usage) : sum), noUsage);
  const { inputTokens, outputTokens, reasoningTokens, units } = total;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { image_tokens: units.request_image_token ?? 0 },
    output_tokens: outputTokens,
    output_tokens_details: { image_tokens: units.response_image_token ?? 0, reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
