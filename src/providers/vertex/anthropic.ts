/** Anthropic's models on Vertex AI: chat, the native messages route, and the count of tokens. */
import { type AnthropicSurface, anthropicFamily, betaHeader, nativeBody, nativeMessages } from '../anthropic/family.ts';
import { askedInRow, type BatchRow, chatPath } from '../batch-rows.ts';
import { RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { isObject, objectOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint } from '../provider.ts';
import { vertexModel } from './model.ts';
import { modelMethod, placeOf } from './place.ts';

/** Not offered here; naming them is refused. */
const missing = ['mcp-client-', 'skills-', 'files-api-', 'web-fetch-', 'code-execution-', 'structured-outputs-'];

const surface: AnthropicSurface = {
  structuredOutput: 'tool',
  inlineMedia: true,
  betas: 'header',
  betaName: (beta) => (missing.some((beginning) => beta.startsWith(beginning)) ? null : beta),
  bodyVersion: 'vertex-2023-10-16',
  // The cloud's own remarks between the model's events.
  unwrap: (event) => (event.event === 'vertex_event' ? null : event),
};

const headers = (facts: CallFacts): Record<string, string> => betaHeader(facts, surface);
const path = (facts: CallFacts): string => modelMethod(facts, facts.stream ? 'streamRawPredict' : 'rawPredict');

const family = anthropicFamily(surface);

export const anthropicChat: ProviderEndpoint = { path, headers, chat: family };

/** The request of a row of a batch; the model is the batch's. */
export const anthropicRow = ({ body, url, customId }: BatchRow, facts: CallFacts): JsonObject =>
  askedInRow(customId, () => {
    if (url !== chatPath) throw new RequestFault('url', `${url} has no batches here`);
    const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', stream: false, body };
    return objectOf(family.request(chatFront.read(rowFacts), rowFacts));
  });

const native: ProviderEndpoint = { path, headers, translation: nativeMessages(surface) };

/** A form for the answer is refused here, so such a message is asked as a chat would be. */
export const anthropicMessages = ({ body }: CallFacts): ProviderEndpoint =>
  isObject(objectOf(body.output_config).format) || isObject(body.output_format) ? anthropicChat : native;

/** Counting is a model of its own, so the body names the one that is meant. */
export const anthropicCount: ProviderEndpoint = {
  path: (facts) => `/v1/${placeOf(facts)}/publishers/anthropic/models/count-tokens:rawPredict`,
  headers,
  translation: {
    request(facts) {
      const { stream, ...body } = nativeBody(facts, surface);
      return { ...body, model: vertexModel(facts.model).name };
    },
    response: (answer) => objectOf(answer),
  },
};
