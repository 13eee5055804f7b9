/** Embeddings of BytePlus: text, images and videos together give one vector, so each input is asked for by itself. */
import { writeEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { listOf, numberOf, objectOf, parsed } from '../json.ts';
import type { JsonObject, RawAnswer, Steps } from '../provider.ts';

export const multimodalEmbeddings: Steps = function* (facts) {
  const { input } = facts.body;
  const inputs = Array.isArray(input) ? input : [input];
  const more = new Fields(facts.body).others(new Set(['input', 'model', 'encoding_format', 'user']));
  const answers = yield {
    calls: inputs.map((entry, index) => ({
      method: 'POST',
      path: '/embeddings/multimodal',
      body: { ...more, model: facts.model, input: partsOf(entry, `input[${index}]`) },
    })),
  };
  const read = answers.map(readAnswer);
  return writeEmbeddings(
    facts,
    read.map(({ vector }) => vector),
    facts.body.encoding_format === 'base64' ? 'base64' : 'float',
    read.reduce((sum, { tokens }) => sum + tokens, 0),
  );
};

function partsOf(entry: unknown, place: string): JsonObject[] {
  if (typeof entry === 'string') return [{ type: 'text', text: entry }];
  const fields = Fields.of(entry, place);
  const text = fields.text('text');
  const parts = [
    ...(text === null ? [] : [{ type: 'text', text }]),
    ...mediaIn(fields, 'image', 'image/png'),
    ...mediaIn(fields, 'video', 'video/mp4'),
  ];
  if (parts.length === 0) throw new RequestFault(place, `${place} must be a text, or hold text, image or video`);
  return parts;
}

function mediaIn(fields: Fields, name: 'image' | 'video', mime: string): JsonObject[] {
  const media = fields.object(name);
  if (!media) return [];
  const base64 = media.text('base64');
  const url = base64 === null ? media.needText('url') : `data:${mime};base64,${base64}`;
  return [{ type: `${name}_url`, [`${name}_url`]: { url } }];
}

function readAnswer({ bytes }: RawAnswer): { vector: number[]; tokens: number } {
  const { data, usage } = objectOf(parsed(new TextDecoder().decode(bytes)));
  const { prompt_tokens, total_tokens } = objectOf(usage);
  return {
    vector: listOf(objectOf(data).embedding).map((value) => numberOf(value) ?? 0),
    tokens: numberOf(prompt_tokens) ?? numberOf(total_tokens) ?? 0,
  };
}
