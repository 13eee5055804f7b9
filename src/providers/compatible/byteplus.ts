/** BytePlus ModelArk. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { hostLabel } from '../settings.ts';
import { multimodalEmbeddings } from './byteplus-embeddings.ts';
import { chat } from './quirks/chat.ts';
import { effortAsThinking } from './quirks/reasoning.ts';

const defaultRegion = 'ap-southeast-1';

/** Hosts are named by the region without its number. */
const zoneOf = (region: string): string => region.replace(/-\d+$/, '');

export const byteplus = openAiCompatible({
  id: 'byteplus',
  name: 'BytePlus ModelArk',
  address: ({ fields }) =>
    `https://ark.${zoneOf(hostLabel({ byteplus_region: defaultRegion, ...fields }, 'byteplus_region'))}.bytepluses.com/api/v3`,
  endpoints: {
    chatComplete: chat({ asks: [effortAsThinking] }),
    ...offered('imageGenerate', 'createModelResponse'),
    embed: { steps: multimodalEmbeddings },
  },
  fields: [{ name: 'byteplus_region', about: 'ap-southeast-1 where it is absent, or eu-west-1.' }],
  notes: [
    'A model is its name or the id of an endpoint of yours, ep-….',
    'Each input of an embedding is a call of its own; an input may be a text, or an object with text, image or video.',
  ],
});
