/** What Anthropic's API refuses in a request for a message, in its own words. */
import type { Json } from '../harness.ts';
import type { ReceivedCall } from './simulated.ts';

const known = new Set(
  'model messages max_tokens system tools tool_choice thinking output_config temperature top_p top_k stop_sequences stream metadata service_tier speed container mcp_servers context_management inference_geo cache_control diagnostics'.split(
    ' ',
  ),
);

/** The first thing that is wrong; null when nothing is. */
export function refusalOf({ headers, json: body }: ReceivedCall): string | null {
  return (
    fieldFault(body) ??
    messagesFault(body) ??
    toolsFault(body) ??
    thinkingFault(body) ??
    samplingFault(body) ??
    marksFault(body) ??
    formatFault(body) ??
    betaFault(body, headers['anthropic-beta'] ?? '')
  );
}

type Fault = string | null;

function fieldFault(body: Json): Fault {
  if (typeof body?.model !== 'string') return 'model: Field required';
  if (!Number.isInteger(body.max_tokens)) return 'max_tokens: Field required';
  if (body.max_tokens < 1) return 'max_tokens: Input should be greater than or equal to 1';
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown) return `${unknown}: Extra inputs are not permitted`;
  if (Object.values(body).includes(null)) return 'Input should be a valid value';
  if (body.stop_sequences?.some((stop: string) => stop.trim() === ''))
    return 'stop_sequences: each stop sequence must contain non-whitespace';
  return Array.isArray(body.messages) && body.messages.length > 0 ? null : 'messages: at least one message is required';
}

const blocksOf = (message: Json): Json[] =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;

function messagesFault({ messages, system }: Json): Fault {
  for (const block of Array.isArray(system) ? system : [])
    if (block.text.trim() === '') return 'system: text content blocks must be non-empty';
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (message.role !== 'user' && message.role !== 'assistant') return `${at}.role: Unexpected role`;
    const blocks = blocksOf(message);
    if (blocks.length === 0) return `${at}: all messages must have non-empty content`;
    const fault = blocks.map((block) => blockFault(block, message.role)).find((found) => found !== null);
    if (fault) return `${at}: ${fault}`;
  }
  const last = messages.at(-1);
  const end = blocksOf(last).at(-1);
  if (last.role === 'assistant' && end.type === 'text' && end.text !== end.text.trimEnd())
    return 'messages: final assistant content cannot end with trailing whitespace';
  return pairingFault(messages);
}

/** What the API made itself is base64. */
const sealed = /^[A-Za-z0-9+/]+=*$/;

function blockFault(block: Json, role: string): Fault {
  switch (block.type) {
    case 'text':
      if (block.citations?.some((citation: Json) => citation.encrypted_index === ''))
        return 'citations: Invalid `encrypted_index`';
      return block.text.trim() === '' ? 'text content blocks must contain non-whitespace text' : null;
    case 'image':
    case 'document':
      return role === 'assistant' ? `${block.type} blocks are not permitted in assistant messages` : sourceFault(block);
    case 'thinking':
      if (typeof block.signature !== 'string') return 'thinking.signature: Field required';
      return sealed.test(block.signature) ? null : 'Invalid `signature` in `thinking` block';
    case 'tool_use':
      return /^[a-zA-Z0-9_-]+$/.test(block.id) && typeof block.input === 'object'
        ? null
        : "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    case 'tool_result':
      return role === 'user' ? null : 'tool_result blocks can only be in user messages';
    case 'redacted_thinking':
      return sealed.test(block.data) ? null : 'Invalid `data` in `redacted_thinking` block';
    default:
      return `Input tag '${block.type}' found using 'type' does not match any of the expected tags`;
  }
}

function sourceFault({ type, source }: Json): Fault {
  const types =
    type === 'image' ? ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] : ['application/pdf', 'text/plain'];
  if (source.type === 'url' || source.type === 'file') return null;
  return types.includes(source.media_type) ? null : `${type}.source.media_type: Input should be ${types.join(' or ')}`;
}

/** Each call is answered by the next message, results first. */
function pairingFault(messages: Json[]): Fault {
  let asked: string[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
    const stray = results.find((id) => !asked.includes(id));
    if (stray) return `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${stray}`;
    const missing = asked.find((id) => !results.includes(id));
    if (missing)
      return `messages.${index}: tool_use ids were found without tool_result blocks immediately after: ${missing}`;
    if (blocks.slice(0, results.length).some((block) => results.length > 0 && block.type !== 'tool_result'))
      return `messages.${index}: tool_result blocks must come first`;
    asked = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id);
  }
  return null;
}

function toolsFault({ tools, tool_choice: choice, messages }: Json): Fault {
  if (choice && !tools) return 'tool_choice may only be specified while providing tools';
  const usesTools = messages.some((message: Json) => blocksOf(message).some((block) => block.type === 'tool_use'));
  if (usesTools && !tools) return 'Requests which include `tool_use` or `tool_result` blocks must define tools.';
  for (const tool of tools ?? []) {
    if (tool.type && tool.type !== 'custom') continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) return 'tools.0.custom.name: String should match pattern';
    if (tool.input_schema?.type !== 'object') return 'tools.0.custom.input_schema.type: Field required';
    if (tool.strict && schemaFault(tool.input_schema)) return `tools.0.custom: ${schemaFault(tool.input_schema)}`;
  }
  return choice?.type === 'tool' && !tools.some((tool: Json) => tool.name === choice.name)
    ? `Tool '${choice.name}' not found in provided tools`
    : null;
}

const newerThan = (model: string, ...lines: string[]): boolean => lines.some((line) => model.includes(line));
const adaptiveOnly = (model: string): boolean =>
  newerThan(model, 'opus-4-7', 'opus-4-8', 'opus-5', 'sonnet-5', 'haiku-5');
const adaptive = (model: string): boolean => adaptiveOnly(model) || newerThan(model, 'opus-4-6', 'sonnet-4-6');

function thinkingFault({
  model,
  thinking,
  max_tokens: most,
  tool_choice: choice,
  messages,
  output_config,
}: Json): Fault {
  if (output_config?.effort && !adaptive(model) && !model.includes('opus-4-5'))
    return 'This model does not support the effort parameter.';
  const last = messages.at(-1);
  if (adaptive(model) && last.role === 'assistant')
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  if (!thinking || thinking.type === 'disabled') return null;
  if (thinking.type === 'adaptive' && !adaptive(model)) return 'adaptive thinking is not supported on this model';
  if (thinking.type === 'enabled' && adaptiveOnly(model))
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".';
  if (thinking.type === 'enabled' && thinking.budget_tokens < 1024)
    return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  if (thinking.type === 'enabled' && thinking.budget_tokens >= most)
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  if (choice?.type === 'any' || choice?.type === 'tool')
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  return adaptive(model) ? null : lostThoughts(messages);
}

function lostThoughts(messages: Json[]): Fault {
  const assistant = messages.findLast((message) => message.role === 'assistant');
  if (!assistant) return null;
  const blocks = blocksOf(assistant);
  const bound = assistant === messages.at(-1) || blocks.some((block) => block.type === 'tool_use');
  return bound && !['thinking', 'redacted_thinking'].includes(blocks[0].type)
    ? `Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0].type}\`.`
    : null;
}

function samplingFault({ model, temperature, top_p, top_k, thinking }: Json): Fault {
  const sampled = temperature !== undefined || top_p !== undefined || top_k !== undefined;
  if (adaptiveOnly(model) && sampled) return '`temperature`, `top_p` and `top_k` are not supported on this model.';
  if (temperature < 0 || temperature > 1) return 'temperature: Input should be less than or equal to 1';
  if (temperature !== undefined && top_p !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model.';
  if (!thinking || thinking.type === 'disabled') return null;
  if (temperature !== undefined && temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.';
  return top_k === undefined ? null : '`top_k` must be unset when thinking is enabled.';
}

function marksFault({ tools, system, messages, cache_control: automatic }: Json): Fault {
  const blocks: Json[] = [...(tools ?? []), ...(system ?? []), ...messages.flatMap(blocksOf)];
  const marks = blocks.flatMap((block) => block.cache_control ?? []);
  if (marks.length + (automatic ? 1 : 0) > 4)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  const short = marks.findIndex((mark) => mark.ttl !== '1h');
  return short !== -1 && marks.slice(short).some((mark) => mark.ttl === '1h')
    ? 'a ttl=1h cache_control block must not come after a ttl=5m cache_control block.'
    : null;
}

const formatFault = ({ output_config }: Json): Fault => {
  const format = output_config?.format;
  return format ? schemaFault(format.schema) : null;
};

const refusedKeywords =
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems oneOf uniqueItems'.split(
    ' ',
  );

function schemaFault(schema: Json): Fault {
  if (typeof schema !== 'object' || schema === null) return null;
  const keyword = refusedKeywords.find((name) => name in schema);
  if (keyword) return `output_config.format.schema: property '${keyword}' is not supported`;
  if (schema.type === 'object' && schema.additionalProperties !== false)
    return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.$defs ?? {}),
    ...(schema.anyOf ?? []),
    schema.items,
  ];
  return inner.map(schemaFault).find((fault) => fault !== null) ?? null;
}

function betaFault({ messages, tools, mcp_servers }: Json, betas: string): Fault {
  const sources = messages.flatMap(blocksOf).map((block: Json) => block.source?.type);
  if (sources.includes('file') && !betas.includes('files-api-')) return 'file sources require the files-api beta';
  if (mcp_servers && !betas.includes('mcp-client-')) return 'mcp_servers: Extra inputs are not permitted';
  const computer = tools?.some((tool: Json) => String(tool.type).startsWith('computer_2'));
  return computer && !betas.includes('computer-use-') ? 'tools.0: computer use requires a beta' : null;
}
