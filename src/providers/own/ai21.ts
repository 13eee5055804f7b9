/** AI21: Jamba in OpenAI's dialect. */
import { unsupported } from '../chat/media.ts';
import { chat } from '../compatible/quirks/chat.ts';
import { limitAsMaxTokens, type Quirk, refuses } from '../compatible/quirks/parameters.ts';
import { readEmbeddings, refuseDimensions, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
import { objectOf, objectsOf, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { Provider, Translation } from '../provider.ts';

const stopAsList: Quirk = (body) => (typeof body.stop === 'string' ? { ...body, stop: [body.stop] } : body);

/** Jamba reads nothing but text. */
const textOnly: Quirk = (body) => {
  const parts = objectsOf(body.messages).flatMap(({ content }) => objectsOf(content));
  if (parts.some(({ type }) => type !== 'text')) throw unsupported('messages', 'AI21', 'images or files');
  return body;
};

/** It answers in JSON of any form, but of no form that is asked for. */
const noSchemas: Quirk = (body) => {
  if (objectOf(body.response_format).type !== 'json_schema') return body;
  throw new RequestFault('response_format', 'AI21 takes no schema: send {"type": "json_object"}');
};

const embed: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    refuseDimensions(request);
    return { texts: textsOf(request), ...request.extras, type: textOf(request.extras.type) ?? 'segment' };
  },
  response(answer, facts) {
    const vectors = objectsOf(objectOf(answer).results).map(({ embedding }) => embedding);
    return writeEmbeddings(facts, vectors.map(requireVector), readEmbeddings(facts).encoding, null);
  },
};

export const ai21: Provider = {
  id: 'ai21',
  name: 'AI21',
  address: 'https://api.ai21.com/studio/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: {
    chatComplete: chat({
      asks: [limitAsMaxTokens, stopAsList, textOnly, noSchemas, refuses('reasoning_effort', 'models that reason')],
      answers: [],
    }),
    embed: { path: '/embed', translation: embed },
  },
  notes: [
    'The Jamba models; the older j2 models have been switched off by AI21.',
    'Text only: images, schemas of answers and reasoning_effort are refused.',
    'Embeddings are made for segments unless type says query; what they cost is not told.',
  ],
};
