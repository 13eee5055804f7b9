/** What a model can do and which parameters it takes, as far as its name and its prices tell. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import type { KnownModel } from '../../pricing/price-table.ts';

const kinds = ['chat', 'text', 'embedding', 'image', 'audio', 'moderation', 'rerank', 'video', 'ocr'] as const;
type Kind = (typeof kinds)[number];

const parameter = () =>
  z.object({
    key: z.string(),
    type: z.enum(['integer', 'number', 'boolean', 'string']),
    defaultValue: z.union([z.number(), z.boolean(), z.string()]).nullable(),
    minValue: z.number().nullable(),
    maxValue: z.number().nullable(),
    options: z.array(z.string()),
  });

export const capabilities = lazy(() =>
  z
    .object({
      name: z.string(),
      params: z.array(parameter()),
      type: z.object({ primary: z.enum(kinds), supported: z.array(z.string()) }),
      messages: z.object({ options: z.array(z.string()) }).describe('The roles that messages may have'),
      disablePlayground: z.boolean().describe('True for models that do not answer messages'),
      isDefault: z.boolean(),
    })
    .meta({ id: 'ModelCapabilities' }),
);

type Capabilities = z.output<ReturnType<typeof capabilities>>;

/** Tried in order; what none of them tells is a chat model. */
const kindByName: readonly (readonly [RegExp, Kind])[] = [
  [/rerank/, 'rerank'],
  [/moderation/, 'moderation'],
  [/ocr/, 'ocr'],
  [/embed|^voyage-|\bbge-/, 'embedding'],
  [/whisper|transcribe|[-/]tts|speech/, 'audio'],
  [/\bimage\b|imagen|dall-e|flux|stable-diffusion/, 'image'],
  [/\bsora|\bveo-|video/, 'video'],
  [/^(ada|babbage|curie|davinci|gpt-3\.5-turbo-instruct)/, 'text'],
];

function kindOf({ id, prices }: KnownModel): Kind {
  if (prices.has('pages')) return 'ocr';
  if (prices.has('audio_seconds') && !prices.has('response_token')) return 'audio';
  const name = id.toLowerCase();
  return kindByName.find(([pattern]) => pattern.test(name))?.[1] ?? 'chat';
}

export function capabilitiesOf(model: KnownModel): Capabilities {
  const kind = kindOf(model);
  const talks = kind === 'chat' || kind === 'text';
  return {
    name: model.name,
    params: talks ? samplingParameters(model) : [],
    type: { primary: kind, supported: kind === 'chat' ? ['chat', 'messages', 'responses'] : [kind] },
    messages: { options: kind === 'chat' ? ['system', 'user', 'assistant', 'tool'] : [] },
    disablePlayground: !talks,
    isDefault: false,
  };
}

const samplingParameters = ({ contextWindow }: KnownModel): Capabilities['params'] => [
  number('max_tokens', 'integer', null, 1, contextWindow),
  number('temperature', 'number', 1, 0, 2),
  number('top_p', 'number', 1, 0, 1),
  { key: 'stream', type: 'boolean', defaultValue: false, minValue: null, maxValue: null, options: [] },
];

const number = (
  key: string,
  type: 'integer' | 'number',
  defaultValue: number | null,
  minValue: number,
  maxValue: number | null,
) => ({ key, type, defaultValue, minValue, maxValue, options: [] });
