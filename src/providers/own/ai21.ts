/** AI21: Jamba in OpenAI's dialect. */
import { chat } from '../compatible/quirks/chat.ts';
import { limitAsMaxTokens, type Quirk } from '../compatible/quirks/parameters.ts';
import { isVector, readEmbeddings, textsOf, writeEmbeddings } from '../embeddings.ts';
import { objectOf, objectsOf, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { Provider, Translation } from '../provider.ts';

const stopAsList: Quirk = (body) => (typeof body.stop === 'string' ? { ...body, stop: [body.stop] } : body);

const embed: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    return { texts: textsOf(request), ...request.extras, type: textOf(request.extras.type) ?? 'segment' };
  },
  response(answer, facts) {
    const vectors = objectsOf(objectOf(answer).results).map(({ embedding }) => embedding);
    return writeEmbeddings(facts, vectors.filter(isVector), readEmbeddings(facts).encoding, null);
  },
};

export const ai21: Provider = {
  id: 'ai21',
  name: 'AI21',
  address: 'https://api.ai21.com/studio/v1',
  needsCredential: true,
  headers: bearer,
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, stopAsList], answers: [] }),
    embed: { path: '/embed', translation: embed },
  },
  notes: [
    'The Jamba models; the older j2 models have been switched off by AI21.',
    'Embeddings are made for segments unless type says query; what they cost is not told.',
  ],
};
