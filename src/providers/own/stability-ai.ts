/** Stability AI: the older engines take JSON and make several images, the newer services take a form and make one. */
import { inPath } from '../compatible/quirks/paths.ts';
import { type FormPart, formBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { aspectRatio, onlyOne, readImages, writeImages } from '../images.ts';
import { objectOf, objectsOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, ProviderEndpoint, Translation } from '../provider.ts';
import { setting } from '../settings.ts';

const isOlder = (model: string): boolean => /^stable-diffusion-(xl-\d+-v\d|v1-)/.test(model);

const older: Translation = {
  request(facts) {
    const { prompt, count, size, style, seed, extras } = readImages(facts);
    return present({
      text_prompts: [{ text: prompt, weight: 1 }],
      samples: count,
      width: size?.width,
      height: size?.height,
      style_preset: style,
      seed,
      ...extras,
    });
  },
  response(answer, facts) {
    const artifacts = objectsOf(objectOf(answer).artifacts);
    for (const { finishReason } of artifacts) requireMade(finishReason);
    return writeImages(
      facts,
      artifacts.map(({ base64 }) => ({ base64: textOf(base64) ?? '' })),
    );
  },
};

/** What the filter holds back is refused, not blurred. */
function requireMade(finish: unknown): void {
  if (finish === 'CONTENT_FILTERED') {
    throw new ProviderFault(400, 'the content filter held the image back', { code: 'content_filter' });
  }
  if (finish === 'ERROR') throw new ProviderFault(502, 'the image could not be made');
}

const ratios = ['1:1', '16:9', '9:16', '3:2', '2:3', '5:4', '4:5', '21:9', '9:21'];

function formOf(facts: CallFacts, more: Readonly<JsonObject>): ReturnType<typeof formBody> {
  const request = readImages(facts);
  onlyOne(request);
  const { prompt, size, style, seed, outputFormat, extras } = request;
  const fields = present({ prompt, style_preset: style, seed, output_format: outputFormat, ...extras, ...more });
  const ratio: JsonObject =
    size && extras.aspect_ratio === undefined && facts.kind === 'imageGenerate'
      ? { aspect_ratio: aspectRatio(size, ratios) }
      : {};
  const parts: [string, FormPart][] = Object.entries({ ...fields, ...ratio }).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return formBody(facts.newId('form-'), [...parts, ...facts.files]);
}

const newer = (more: (facts: CallFacts) => JsonObject = () => ({})): Translation => ({
  request: (facts) => formOf(facts, more(facts)),
  response(answer, facts) {
    const { image, finish_reason } = objectOf(answer);
    requireMade(finish_reason);
    return writeImages(facts, [{ base64: textOf(image) ?? '' }]);
  },
});

/** Core and ultra are services; everything else is a model of the third one. */
function service({ model }: CallFacts): ProviderEndpoint {
  const named = /(?:^|-)(core|ultra)$/.exec(model)?.[1];
  return named
    ? { path: `/v2beta/stable-image/generate/${named}`, translation: newer() }
    : { path: '/v2beta/stable-image/generate/sd3', translation: newer(() => ({ model })) };
}

const edits = new Set([
  'erase',
  'inpaint',
  'outpaint',
  'search-and-replace',
  'search-and-recolor',
  'remove-background',
]);

/** What is done with an image stands in the model's place. */
function editPath({ model }: CallFacts): string {
  if (edits.has(model)) return `/v2beta/stable-image/edit/${model}`;
  throw new RequestFault('model', `model must be one of ${[...edits].join(', ')} for an edit by Stability AI`);
}

const json = () => ({ accept: 'application/json' });

export const stabilityAi: Provider = {
  id: 'stability-ai',
  name: 'Stability AI',
  address: 'https://api.stability.ai',
  needsCredential: true,
  headers: (facts) => ({ ...bearer(facts), ...clientHeaders(facts) }),
  fields: [
    { name: 'stability_client_id', about: 'The name of your application, for Stability’s own records.' },
    { name: 'stability_client_user_id', about: 'An id of your user, for Stability’s own records.' },
    { name: 'stability_client_version', about: 'The version of your application.' },
  ],
  endpoints: {
    imageGenerate: (facts) =>
      isOlder(facts.model)
        ? { path: `/v1/generation/${inPath(facts.model)}/text-to-image`, headers: json, translation: older }
        : { ...service(facts), headers: json },
    imageEdit: { path: editPath, headers: json, translation: newer() },
  },
  notes: [
    'Images come as b64_json, whatever response_format says. The newer services make one image a call and take a ratio: the one nearest to size.',
    'For edits the model is the service: erase, inpaint, outpaint, search-and-replace, search-and-recolor or remove-background.',
  ],
};

function clientHeaders({ fields }: CallFacts): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['stability_client_id', 'stability_client_user_id', 'stability_client_version']) {
    const value = setting(fields, name);
    if (value !== null) headers[name.replaceAll('_', '-')] = value;
  }
  return headers;
}
