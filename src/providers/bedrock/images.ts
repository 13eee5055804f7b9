/** Images by InvokeModel: Stability's two generations, Titan and Nova Canvas. */
import { ProviderFault, RequestFault } from '../faults.ts';
import { aspectRatio, type ImageRequest, onlyOne, readImages, writeImages } from '../images.ts';
import { listOf, numberOf, objectOf, objectsOf, present, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, SentFile, Translation } from '../provider.ts';
import { modelId, modelPath } from './model.ts';

const stabilityFirst: Translation = {
  request: (facts) => {
    const asked = readImages(facts);
    onlyOne(asked);
    const { extras } = asked;
    const negative = textOf(extras.negative_prompt);
    return present({
      text_prompts: [{ text: asked.prompt, weight: 1 }, ...(negative === null ? [] : [{ text: negative, weight: -1 }])],
      ...asked.size,
      style_preset: extras.style_preset ?? styleOf(asked),
      cfg_scale: numberIn(extras.cfg_scale),
      steps: numberIn(extras.steps),
      seed: asked.seed,
      sampler: extras.sampler,
      clip_guidance_preset: extras.clip_guidance_preset,
      init_image: encodedFile(facts, 'image'),
    });
  },
  response: (answer, facts) => {
    const made = objectsOf(objectOf(answer).artifacts);
    if (made.some(({ finishReason }) => finishReason === 'CONTENT_FILTERED')) throw filtered('CONTENT_FILTERED');
    return answered(
      made.map(({ base64 }) => base64),
      facts,
    );
  },
};

const stability: Translation = {
  request: (facts) => {
    const asked = readImages(facts);
    onlyOne(asked);
    const { extras, size } = asked;
    const image = encodedFile(facts, 'image') ?? textOf(extras.image);
    return present({
      prompt: asked.prompt,
      aspect_ratio: extras.aspect_ratio ?? (size && image === null ? aspectRatio(size) : null),
      output_format: asked.outputFormat,
      seed: asked.seed,
      strength: numberIn(extras.strength),
      negative_prompt: extras.negative_prompt,
      mode: extras.mode ?? (image === null ? null : 'image-to-image'),
      image,
    });
  },
  response: (answer, facts) => {
    const body = objectOf(answer);
    const reason = listOf(body.finish_reasons).find((entry) => typeof entry === 'string');
    if (reason !== undefined) throw filtered(wordOf(reason));
    return answered(listOf(body.images), facts);
  },
};

/** Titan and Nova Canvas take one kind of body for all that they do. */
const canvas: Translation = {
  request: (facts) => {
    const asked = readImages({ ...facts, body: { prompt: '', ...facts.body } });
    const { count, size, seed, extras } = asked;
    return {
      ...canvasTask(facts, asked),
      imageGenerationConfig: present({
        numberOfImages: count,
        ...size,
        quality: qualityOf(asked),
        cfgScale: numberIn(extras.cfg_scale ?? extras.cfgScale),
        seed,
      }),
    };
  },
  response: (answer, facts) => {
    const { error, images } = objectOf(answer);
    if (typeof error === 'string' && listOf(images).length === 0) throw filtered(error);
    return answered(listOf(images), facts);
  },
};

/** What is to be done: a new image, a part painted anew, or a variation. */
function canvasTask(facts: CallFacts, { prompt, extras }: ImageRequest): JsonObject {
  const told = present({ text: prompt || null, negativeText: extras.negative_prompt });
  if (facts.kind === 'imageGenerate') {
    if (prompt === '') throw new RequestFault('prompt', 'prompt is missing');
    return { taskType: 'TEXT_IMAGE', textToImageParams: told };
  }
  const image = encodedFile(facts, 'image') ?? encodedFile(facts, 'image[]');
  if (image === null) throw new RequestFault('image', 'image is missing');
  const masked = present({ ...told, image, maskImage: encodedFile(facts, 'mask'), maskPrompt: extras.mask_prompt });
  const isMasked = masked.maskImage !== undefined || masked.maskPrompt !== undefined;
  switch (extras.task_type ?? (isMasked ? 'INPAINTING' : 'IMAGE_VARIATION')) {
    case 'IMAGE_VARIATION':
      return { taskType: 'IMAGE_VARIATION', imageVariationParams: { ...told, images: [image] } };
    case 'INPAINTING':
      return { taskType: 'INPAINTING', inPaintingParams: masked };
    case 'OUTPAINTING':
      return { taskType: 'OUTPAINTING', outPaintingParams: masked };
    case 'BACKGROUND_REMOVAL':
      return { taskType: 'BACKGROUND_REMOVAL', backgroundRemovalParams: { image } };
    default:
      throw new RequestFault(
        'task_type',
        'task_type must be IMAGE_VARIATION, INPAINTING, OUTPAINTING or BACKGROUND_REMOVAL',
      );
  }
}

/** The fields of a form come as text. */
const numberIn = (value: unknown): number | null =>
  typeof value === 'string' && value.trim() !== '' ? numberOf(Number(value)) : numberOf(value);

const encodedFile = ({ files }: CallFacts, name: string): string | null => {
  const file: SentFile | undefined = files.get(name);
  return file ? Buffer.from(file.bytes).toString('base64') : null;
};

/** OpenAI's two styles are none of Stability's; its own names pass. */
const styleOf = ({ style }: ImageRequest): string | null => (style === 'vivid' || style === 'natural' ? null : style);

function qualityOf({ quality }: ImageRequest): string | null {
  if (quality === 'hd' || quality === 'high' || quality === 'premium') return 'premium';
  return quality === null || quality === 'auto' ? null : 'standard';
}

const filtered = (reason: string): ProviderFault =>
  new ProviderFault(400, `no image was made: ${reason}`, {
    type: 'image_generation_user_error',
    code: 'content_policy_violation',
  });

const answered = (images: readonly unknown[], facts: CallFacts): JsonObject =>
  writeImages(
    facts,
    images.flatMap((image) => (typeof image === 'string' ? [{ base64: image }] : [])),
  );

const makers: readonly (readonly [beginning: RegExp, maker: Translation, edits: boolean])[] = [
  [/^stability\.stable-diffusion-xl/, stabilityFirst, true],
  [/^stability\.sd3/, stability, true],
  [/^stability\./, stability, false],
  [/^amazon\.(?:titan-image|nova-canvas)/, canvas, true],
];

export function images(facts: CallFacts): ProviderEndpoint | null {
  const id = modelId(facts);
  const found = makers.find(([beginning]) => beginning.test(id));
  if (!found || (facts.kind !== 'imageGenerate' && !found[2])) return null;
  return { path: modelPath(facts, 'invoke'), translation: found[1] };
}
