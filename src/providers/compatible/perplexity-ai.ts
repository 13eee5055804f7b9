/** Perplexity. */
import { openAiCompatible } from '../openai-compatible.ts';
import { asksForPacked, decodedEmbeddings } from './perplexity-embeddings.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, notSent, oneChoice, refusesTools, without } from './quirks/parameters.ts';

const unsent = ['logit_bias', 'seed', 'user'];

export const perplexityAi = openAiCompatible({
  id: 'perplexity-ai',
  name: 'Perplexity',
  aliases: ['perplexity'],
  address: 'https://api.perplexity.ai',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, refusesTools, oneChoice, without(...unsent)] }),
    createModelResponse: { path: '/v1/responses' },
    embed: (facts) => ({
      path: '/v1/embeddings',
      ...(!asksForPacked(facts) && { translation: decodedEmbeddings }),
    }),
    listModels: { path: '/v1/models' },
  },
  reportsCost: true,
  notes: [
    'Chat has no tools and one choice; a call that asks for more is refused.',
    'Answers carry citations and search_results; what to search is told by search_domain_filter and the like.',
    'Embeddings are whole numbers of eight bits, which the gateway unpacks; encoding_format base64_int8 and base64_binary give them packed.',
    notSent(unsent),
  ],
});
