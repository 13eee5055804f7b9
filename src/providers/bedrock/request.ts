/** A conversation, written as a Converse request. */
import { betasOf } from '../anthropic/family.ts';
import { cleaned } from '../anthropic/schema.ts';
import type { Conversation } from '../chat/conversation.ts';
import { hoisted } from '../chat/turns.ts';
import { RequestFault } from '../faults.ts';
import { isObject, listOf, present, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { cachePoint, messagesOf, systemOf } from './blocks.ts';
import { withinPoints } from './cache-points.ts';
import { claudeOnBedrock } from './claude.ts';
import { type BedrockModel, modelOf } from './model.ts';
import { type BedrockThinking, thinkingOf } from './thinking.ts';
import { toolsOf } from './tools.ts';

export function converseRequest(conversation: Conversation, facts: CallFacts): JsonObject {
  const model = modelOf(facts);
  refuseWhatCannotBe(conversation);
  const thinking = thinkingOf(conversation, model, facts);
  const tools = toolsOf(conversation, model, thinking.on);
  const spoken = hoisted(conversation);
  const system = [...systemOf(spoken, model), ...instructions(conversation, tools.instruction)];
  const own = ownFields(conversation.extras);
  const additional = {
    ...tools.fields,
    ...sampling(conversation, model, thinking),
    ...betas(facts, model),
    ...passedOn(conversation.extras),
    ...thinking.fields,
    ...(isObject(own.additionalModelRequestFields) && own.additionalModelRequestFields),
  };
  return withinPoints(
    present({
      ...own,
      messages: markedAtEnd(messagesOf(spoken, facts, model), conversation.extras.cache_control, model),
      system: system.length > 0 ? system : null,
      inferenceConfig: inferenceConfig(conversation, model, thinking),
      toolConfig: tools.toolConfig,
      outputConfig: outputConfig(conversation, model),
      serviceTier: own.serviceTier ?? serviceTier(conversation.serviceTier),
      requestMetadata: own.requestMetadata ?? requestMetadata(conversation),
      additionalModelRequestFields: Object.keys(additional).length > 0 ? additional : null,
      additionalModelResponseFieldPaths: responsePaths(own.additionalModelResponseFieldPaths, conversation, model),
    }),
  );
}

function refuseWhatCannotBe({ count, extras }: Conversation): void {
  if (count > 1) throw new RequestFault('n', 'Bedrock gives one answer to a call: n must be 1');
  if (extras.web_search_options !== undefined) {
    throw new RequestFault('web_search_options', 'Bedrock does not search the web for this call');
  }
  if (listOf(extras.modalities).some((modality) => modality !== 'text')) {
    throw new RequestFault('modalities', 'Bedrock answers chats in text only');
  }
}

const jsonLine = 'Answer with one JSON object and nothing else: no words around it, no code fence.';

function instructions({ format }: Conversation, forTool: string | null): JsonObject[] {
  return [...(format.type === 'json' ? [{ text: jsonLine }] : []), ...(forTool === null ? [] : [{ text: forTool }])];
}

/** A mark for the whole request stands behind its last block. */
function markedAtEnd(messages: JsonObject[], mark: unknown, model: BedrockModel): JsonObject[] {
  const last = messages.at(-1);
  if (!last || !isObject(mark)) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...listOf(last.content), ...cachePoint(mark, model)] }];
}

function inferenceConfig(
  conversation: Conversation,
  model: BedrockModel,
  thinking: BedrockThinking,
): JsonObject | null {
  const { temperature, topP, stop } = conversation;
  const steers = !thinking.on && model.claude?.samples !== false;
  const config = present({
    maxTokens: conversation.limit ?? thinking.limit,
    temperature: steers && temperature !== null ? Math.min(1, Math.max(0, temperature)) : null,
    // Claude takes one of the two.
    topP: steers && !(model.claude && temperature !== null) ? topP : null,
    stopSequences: stop.length > 0 ? (model.claude ? stop.filter((text) => text.trim() !== '') : stop) : null,
  });
  return Object.keys(config).length > 0 ? config : null;
}

function sampling({ topK }: Conversation, model: BedrockModel, thinking: BedrockThinking): JsonObject {
  if (topK === null || thinking.on || model.claude?.samples === false) return {};
  if (model.isNova) return { inferenceConfig: { topK } };
  return model.id.startsWith('cohere.') ? { k: topK } : { top_k: topK };
}

function betas(facts: CallFacts, { claude }: BedrockModel): JsonObject {
  const named = claude ? betasOf(facts, claudeOnBedrock) : [];
  return named.length > 0 ? { anthropic_beta: named } : {};
}

/** Fields of Converse itself, in its own spelling and in the one of our other fields. */
const converseFields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    guardrailConfig: 'guardrailConfig',
    guardrail_config: 'guardrailConfig',
    performanceConfig: 'performanceConfig',
    performance_config: 'performanceConfig',
    promptVariables: 'promptVariables',
    prompt_variables: 'promptVariables',
    requestMetadata: 'requestMetadata',
    request_metadata: 'requestMetadata',
    serviceTier: 'serviceTier',
    additionalModelRequestFields: 'additionalModelRequestFields',
    additional_model_request_fields: 'additionalModelRequestFields',
    additionalModelResponseFieldPaths: 'additionalModelResponseFieldPaths',
    additional_model_response_field_paths: 'additionalModelResponseFieldPaths',
  }),
);

const ownFields = (extras: Readonly<JsonObject>): JsonObject =>
  Object.fromEntries(
    Object.entries(extras).flatMap(([name, value]) => {
      const own = converseFields.get(name);
      return own === undefined ? [] : [[own, value]];
    }),
  );

/** What steers OpenAI's own service and means nothing to a model here. */
const meaningless = new Set([
  'audio',
  'cache_control',
  'logit_bias',
  'modalities',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'verbosity',
  'anthropic_beta',
  'anthropic_version',
]);

/** Whatever else the client wrote is for the model. */
const passedOn = (extras: Readonly<JsonObject>): JsonObject =>
  Object.fromEntries(Object.entries(extras).filter(([name]) => !meaningless.has(name) && !converseFields.has(name)));

function outputConfig({ format }: Conversation, { structured, claude }: BedrockModel): JsonObject | null {
  if (format.type !== 'schema' || !structured) return null;
  const schema = JSON.stringify(claude ? cleaned(format.schema) : format.schema);
  const { name, description } = format;
  return { textFormat: { type: 'json_schema', structure: { jsonSchema: present({ schema, name, description }) } } };
}

const tiers = new Set(['default', 'flex', 'priority', 'reserved']);

const serviceTier = (tier: string | null): JsonObject | null =>
  tier !== null && tiers.has(tier) ? { type: tier } : null;

const mostMetadata = 16;

/** Only for the account's logs: what does not fit is made to. */
function requestMetadata({ user, metadata }: Conversation): JsonObject | null {
  const entries = Object.entries({ ...(user !== null && { user }), ...metadata }).slice(0, mostMetadata);
  const fitting = entries.map(([name, value]) => [fit(name), fit(wordOf(value))]).filter(([name]) => name !== '');
  return fitting.length > 0 ? Object.fromEntries(fitting) : null;
}

const fit = (text: string): string => text.replace(/[^a-zA-Z0-9\s:_@$#=/+,.-]/g, '-').slice(0, 256);

/** Claude tells which stop sequence it met only when it is asked to. */
function responsePaths(asked: unknown, { stop }: Conversation, { claude }: BedrockModel): unknown[] | null {
  const paths = new Set([...listOf(asked), ...(claude && stop.length > 0 ? ['/stop_sequence'] : [])]);
  return paths.size > 0 ? [...paths] : null;
}
