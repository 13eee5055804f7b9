/** NVIDIA Triton: completions by a model that one runs oneself. */

import { inPath } from '../compatible/quirks/paths.ts';
import { CompletionPieces, completionAnswer, refuseDemands } from '../completions.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { isObject, objectOf, parsed, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, ServerEvent, StreamTranslator, Translation } from '../provider.ts';

const known = new Set(['model', 'prompt', 'stop', 'stream', 'stream_options', 'user', 'n', 'best_of']);

function request({ body: json, stream }: CallFacts): JsonObject {
  const body = new Fields(json);
  refuseDemands(body, 'Triton', ['n', 'best_of']);
  const stop = body.texts('stop');
  return present({
    text_input: body.needText('prompt'),
    stop_words: stop.length > 0 ? stop : null,
    // A model makes its pieces only when it is told to, whatever the address.
    stream: stream || null,
    ...body.others(known),
  });
}

/** The server ends its stream without a word: only HTTP tells that nothing is missing. */
class PieceReader implements StreamTranslator {
  readonly #pieces: CompletionPieces;
  #spoke = false;

  constructor(facts: CallFacts) {
    this.#pieces = new CompletionPieces(facts);
  }

  event({ data }: ServerEvent): ServerEvent[] {
    const piece = parsed(data);
    if (!isObject(piece)) throw new ProviderFault(502, 'the provider sent a piece that cannot be read');
    if (piece.error !== undefined) throw faultIn(502, piece) ?? new ProviderFault(502, data);
    this.#spoke = true;
    return this.#pieces.said(textOf(piece.text_output));
  }

  end(told?: boolean): ServerEvent[] {
    return told && this.#spoke ? this.#pieces.last([{ index: 0, finish: 'stop' }], null) : [];
  }
}

const completion: Translation = {
  request,
  response: (answer, facts) => {
    const text = textOf(objectOf(answer).text_output) ?? '';
    return completionAnswer(facts, facts.newId('cmpl-'), [{ index: 0, text, finish: 'stop' }], null);
  },
  stream: (facts) => new PieceReader(facts),
};

/** The address may lead to the server, or to one of its models. */
const path = ({ model, stream }: CallFacts, base: string): string => {
  const operation = stream ? 'generate_stream' : 'generate';
  return base.includes('/models/') || model === '' ? `/${operation}` : `/v2/models/${inPath(model)}/${operation}`;
};

export const triton: Provider = {
  id: 'triton',
  name: 'NVIDIA Triton',
  address: null,
  needsCredential: false,
  headers: bearer,
  fields: [{ name: 'custom_host', required: true, about: 'The address of the server, or of one of its models.' }],
  endpoints: { complete: { path, translation: completion } },
  notes: [
    'What a call costs is not told: its tokens are estimated.',
    'A stream has no last word of its own: it counts as whole where HTTP marks its end, as the server does, and as broken where a proxy takes that mark away.',
  ],
};
