/** NVIDIA Triton: completions by a model that one runs oneself. */
import { inPath } from '../compatible/quirks/paths.ts';
import { RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { objectOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, Provider, Translation } from '../provider.ts';

const known = new Set(['model', 'prompt', 'stop', 'stream', 'user', 'n']);

const completion: Translation = {
  request({ body: json, stream }) {
    const body = new Fields(json);
    if (stream) throw new RequestFault('stream', 'completions of Triton do not stream here: leave stream out');
    const stop = body.texts('stop');
    return present({
      text_input: body.needText('prompt'),
      stop_words: stop.length > 0 ? stop : null,
      ...body.others(known),
    });
  },
  response: (answer, { model, provider, now, newId }) => ({
    id: newId('cmpl-'),
    object: 'text_completion',
    created: now(),
    model,
    choices: [{ index: 0, text: textOf(objectOf(answer).text_output) ?? '', logprobs: null, finish_reason: 'stop' }],
    usage: null,
    provider,
  }),
};

/** The address may lead to the server, or to one of its models. */
const path = ({ model }: CallFacts, base: string): string =>
  base.includes('/models/') || model === '' ? '/generate' : `/v2/models/${inPath(model)}/generate`;

export const triton: Provider = {
  id: 'triton',
  name: 'NVIDIA Triton',
  address: null,
  needsCredential: false,
  headers: bearer,
  fields: [{ name: 'custom_host', required: true, about: 'The address of the server, or of one of its models.' }],
  endpoints: { complete: { path, translation: completion } },
  notes: ['What a call costs is not told: its tokens are estimated.'],
};
