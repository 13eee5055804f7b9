/** A conversation, written as a request to generate content. */
import type { Conversation } from '../chat/conversation.ts';
import { RequestFault } from '../faults.ts';
import { isObject, present } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { contentsOf } from './contents.ts';
import { formatRequest, generationConfig } from './generation-config.ts';
import { labelsOf } from './labels.ts';
import { nameOf, type Surface } from './surface.ts';
import { toolFields } from './tools.ts';

export function writeRequest(conversation: Conversation, facts: CallFacts, surface: Surface): JsonObject {
  const { extras } = conversation;
  const { system, contents } = contentsOf(conversation, facts, surface);
  if (contents.length === 0) {
    throw new RequestFault('messages', `${nameOf(surface)} must be given something to answer: the messages are empty`);
  }
  const { tools, toolConfig } = toolFields(conversation, surface);
  const callsFunctions = tools?.some((tool) => tool.functionDeclarations) ?? false;
  const asked = formatRequest(conversation, callsFunctions);
  const instructions = asked === null ? system : [...system, { text: asked }];
  const config = generationConfig(conversation, facts.strict, callsFunctions);
  return present({
    systemInstruction: instructions.length > 0 ? { parts: instructions } : null,
    contents,
    tools,
    toolConfig: withOwnConfig(toolConfig, extras.tool_config ?? extras.toolConfig),
    generationConfig: Object.keys(config).length > 0 ? config : null,
    safetySettings: extras.safety_settings ?? extras.safetySettings,
    cachedContent: extras.cached_content ?? extras.cachedContent,
    labels: surface === 'vertex' ? labelsOf(conversation, facts) : null,
    serviceTier: surface === 'studio' ? tierOf(conversation.serviceTier) : null,
  });
}

/** What is written in the provider's own words stands over what was translated. */
const withOwnConfig = (config: JsonObject | null, own: unknown): JsonObject | null =>
  isObject(own) ? { ...config, ...own } : config;

const tiers = new Map(Object.entries({ flex: 'flex', priority: 'priority', default: 'standard' }));

/** The tiers that both sides know; others only tune. */
const tierOf = (tier: string | null): string | null => tiers.get(tier ?? '') ?? null;
