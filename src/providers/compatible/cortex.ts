/** Snowflake Cortex. */
import { withoutForeignThoughts } from '../anthropic/foreign-thoughts.ts';
import { readEmbeddings, refuseDimensions, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { listOf, numberOf, objectOf, objectsOf } from '../json.ts';
import { openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { hostLabels, setting } from '../settings.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';

/** A signed token has three parts; any other is one that Snowflake made. */
const tokenType = (token: string): string =>
  token.split('.').length === 3 ? 'KEYPAIR_JWT' : 'PROGRAMMATIC_ACCESS_TOKEN';

const embeddings: Translation = {
  request(facts) {
    const asked = readEmbeddings(facts);
    refuseDimensions(asked);
    return { ...asked.extras, model: facts.model, text: textsOf(asked) };
  },
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    const vectors = objectsOf(data).map(({ embedding }) => vectorIn(embedding));
    const tokens = numberOf(objectOf(usage).total_tokens);
    return writeEmbeddings(facts, vectors.map(requireVector), readEmbeddings(facts).encoding, tokens);
  },
};

/** Each vector may stand in a list of its own. */
const vectorIn = (embedding: unknown): unknown => {
  const [first] = listOf(embedding);
  return Array.isArray(first) ? first : embedding;
};

export const cortex = openAiCompatible({
  id: 'cortex',
  name: 'Snowflake Cortex',
  aliases: ['snowflake-cortex', 'snowflake'],
  address: ({ fields }) => `https://${hostLabels(fields, 'snowflake_account')}.snowflakecomputing.com/api/v2`,
  headers: ({ credential, fields }) =>
    credential === null
      ? {}
      : {
          'x-snowflake-authorization-token-type': setting(fields, 'snowflake_token_type') ?? tokenType(credential),
        },
  endpoints: {
    chatComplete: chat({ path: '/cortex/v1/chat/completions' }),
    messages: { ...messagesAt('/cortex/v1/messages'), adjust: withoutForeignThoughts },
    embed: { path: '/cortex/inference:embed', translation: embeddings },
  },
  fields: [
    {
      name: 'snowflake_account',
      required: true,
      about: 'The account identifier, such as myorg-account123 or xy12345.us-east-1.',
    },
    {
      name: 'snowflake_token_type',
      about: 'KEYPAIR_JWT, PROGRAMMATIC_ACCESS_TOKEN or OAUTH, where the form of the token does not tell.',
    },
  ],
});
