/** A conversation, written as a request for a message. */
import { answerInstruction } from '../chat/answer-tool.ts';
import type { Conversation, OutputFormat } from '../chat/conversation.ts';
import { RequestFault } from '../faults.ts';
import { isObject, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { betasOf } from './betas.ts';
import { withinMarks } from './marks.ts';
import { writeMessages } from './messages.ts';
import { type ModelTraits, traitsOf } from './model.ts';
import { cleaned } from './schema.ts';
import type { AnthropicSurface } from './surface.ts';
import { type Thinking, thinkingOf, thinksIn } from './thinking.ts';
import { type ToolOptions, writeTools } from './tools.ts';

/** Fields of the client's that this provider knows and the conversation does not. */
const ownFields = ['context_management', 'mcp_servers', 'container', 'inference_geo', 'cache_control', 'diagnostics'];

export function writeRequest(conversation: Conversation, facts: CallFacts, surface: AnthropicSurface): JsonObject {
  if (conversation.count > 1) throw new RequestFault('n', 'n must be 1: Anthropic gives one answer to a call');
  const traits = traitsOf(conversation.model);
  const thinking = thinkingOf(conversation, traits, !facts.strict);
  const native = isNative(surface, traits);
  const answer = formByTool(conversation, surface);
  const thinks = thinksIn(thinking);
  const { system, messages } = writeMessages(conversation, facts);
  const instruction = instructionOf(conversation, answer !== null && thinks);
  const body = addressed(conversation, facts, surface);
  body.max_tokens = thinking.limit;
  if (instruction) body.system = [...system, instruction];
  else if (system.length > 0) body.system = system;
  body.messages = messages;
  Object.assign(body, writeTools(conversation, { strict: native, answer, thinks }));
  add(body, 'thinking', thinking.field);
  add(body, 'output_config', outputConfig(conversation, thinking, native));
  addSampling(body, conversation, traits, thinks);
  add(body, 'stop_sequences', stopSequences(conversation.stop));
  add(body, 'metadata', metadataOf(conversation));
  addTier(body, conversation);
  for (const field of ownFields) add(body, field, conversation.extras[field]);
  return withinMarks(body);
}

/** Only what was asked for is sent. Field by field, since most requests ask for few of them. */
function add(body: JsonObject, field: string, value: unknown): void {
  if (value !== undefined && value !== null) body[field] = value;
}

const isNative = ({ structuredOutput }: AnthropicSurface, { structured }: ModelTraits): boolean =>
  structuredOutput === 'native' && structured;

/** The form that a tool must stand in for; null where none is asked for, or the model keeps to it by itself. */
export const formByTool = ({ format, model }: Conversation, surface: AnthropicSurface): ToolOptions['answer'] =>
  format.type === 'schema' && !isNative(surface, traitsOf(model)) ? format : null;

/** Those of nothing but white space are refused. */
export function stopSequences(stop: readonly string[]): readonly string[] | null {
  if (stop.length === 0) return null;
  const said = stop.filter((text) => text.trim() !== '');
  return said.length > 0 ? said : null;
}

/** What the address says, the body does not. */
export function addressed(
  { model, stream }: Pick<Conversation, 'model' | 'stream'>,
  facts: CallFacts,
  surface: AnthropicSurface,
): JsonObject {
  const betas = surface.betas === 'body' ? betasOf(facts, surface) : [];
  const body: JsonObject = surface.bodyVersion === null ? { model } : { anthropic_version: surface.bodyVersion };
  if (stream && !surface.streamsByAddress) body.stream = true;
  if (betas.length > 0) body.anthropic_beta = betas;
  return body;
}

/** There is no native way to ask for JSON of any form, and none to make a thinking model call the tool that stands for an answer. */
function instructionOf({ format }: Conversation, mayNotCall: boolean): JsonObject | null {
  const said =
    format.type === 'json'
      ? 'Answer with one JSON object and nothing else: no other text, and no code fence around it.'
      : mayNotCall
        ? answerInstruction
        : null;
  return said === null ? null : { type: 'text', text: said };
}

function outputConfig({ format, extras }: Conversation, { effort }: Thinking, native: boolean): JsonObject | null {
  const own = isObject(extras.output_config) ? extras.output_config : null;
  const form = native ? formatOf(format) : null;
  if (!own && !form && effort === null) return null;
  const config = present({ effort, format: form, ...own });
  return Object.keys(config).length > 0 ? config : null;
}

const formatOf = (format: OutputFormat): JsonObject | null =>
  format.type === 'schema' ? { type: 'json_schema', schema: cleaned(format.schema) } : null;

/** Of the ways to sample only one may be set; a model that thinks, and the newest ones, take almost none. */
function addSampling(
  body: JsonObject,
  { temperature, topP, topK }: Conversation,
  { samples }: ModelTraits,
  thinks: boolean,
): void {
  if (!samples) return;
  if (temperature === null) add(body, 'top_p', thinks && topP !== null && topP < 0.95 ? null : topP);
  else if (!thinks) body.temperature = Math.min(1, Math.max(0, temperature));
  if (!thinks) add(body, 'top_k', topK);
}

const looksPersonal = (id: string): boolean => /\S@[^\s@]+\.\S/.test(id) || /^\+?[\d\s().-]{7,}$/.test(id);

const metadataOf = ({ user, metadata, extras }: Conversation): JsonObject | null =>
  userMetadata(user ?? textOf(extras.safety_identifier) ?? textOf(metadata?.user_id));

/** The id of a user must not tell who it is. */
export const userMetadata = (id: string | null): JsonObject | null =>
  id === null || id === '' || looksPersonal(id) ? null : { user_id: id };

const tiers: ReadonlyMap<string, string> = new Map(
  Object.entries({
    auto: 'auto',
    priority: 'auto',
    default: 'standard_only',
    standard: 'standard_only',
    standard_only: 'standard_only',
  }),
);

function addTier(body: JsonObject, { serviceTier, extras }: Conversation): void {
  if (serviceTier !== null) add(body, 'service_tier', tiers.get(serviceTier));
  add(body, 'speed', extras.speed ?? (serviceTier === 'fast' ? 'fast' : null));
}
