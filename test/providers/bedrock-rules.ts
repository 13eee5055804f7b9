/** What Converse refuses, in its own words: tests must not pass on requests that the real service would not take. */
import type { Json } from '../harness.ts';

const topLevel = new Set([
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'promptVariables',
  'additionalModelResponseFieldPaths',
  'requestMetadata',
  'performanceConfig',
  'serviceTier',
  'outputConfig',
]);

const formats: Record<string, string[]> = {
  image: ['png', 'jpeg', 'gif', 'webp'],
  document: ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'],
  video: ['mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp'],
  audio: ['mp3', 'opus', 'wav', 'aac', 'flac', 'mp4', 'ogg', 'mkv', 'm4a', 'mpeg', 'mpga', 'pcm', 'webm'],
};

/** Null for a request that is taken. */
export function faultOfConverse(model: string, request: Json): string | null {
  try {
    check(model, request);
    return null;
  } catch (fault) {
    if (fault instanceof Refusal) return fault.message;
    throw fault;
  }
}

class Refusal extends Error {}

function refuse(unless: boolean, message: string): void {
  if (!unless) throw new Refusal(message);
}

function check(model: string, request: Json): void {
  for (const name of Object.keys(request)) refuse(topLevel.has(name), `extraneous key [${name}] is not permitted`);
  const { messages, toolConfig, inferenceConfig = {}, additionalModelRequestFields: more = {} } = request;
  refuse(Array.isArray(messages) && messages.length > 0, 'messages must not be empty');
  refuse(
    messages[0].role === 'user',
    'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  );
  const names = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    refuse(
      message.role === (index % 2 === 0 ? 'user' : 'assistant'),
      `${at}: roles must alternate between "user" and "assistant"`,
    );
    refuse(
      message.content.length > 0,
      `The content field in the Message object at ${at} is empty. Add a ContentBlock object to the content field and try again.`,
    );
    for (const [position, block] of message.content.entries()) checkBlock(block, `${at}.content.${position}`, names);
    checkTurn(messages, index);
    const kinds = message.content.map((block: Json) => Object.keys(block)[0]);
    refuse(
      !kinds.includes('document') || kinds.includes('text'),
      'When including a document, a text block is also required.',
    );
  }
  const usesTools = messages.some((message: Json) =>
    message.content.some((block: Json) => block.toolUse || block.toolResult),
  );
  refuse(
    !usesTools || toolConfig !== undefined,
    'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
  );
  if (toolConfig) checkTools(model, toolConfig);
  const points = [
    ...(request.system ?? []),
    ...(toolConfig?.tools ?? []),
    ...messages.flatMap((message: Json) => message.content),
  ];
  refuse(points.filter((block: Json) => block.cachePoint).length <= 4, 'You can define at most 4 cache points.');
  refuse(
    (inferenceConfig.temperature ?? 0) <= 1,
    'inferenceConfig.temperature: 1 validation error detected: Value failed to satisfy constraint: Member must have value less than or equal to 1',
  );
  for (const [name, value] of Object.entries(request.requestMetadata ?? {})) {
    refuse(
      /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/.test(String(value)),
      `requestMetadata.${name} failed to satisfy constraint`,
    );
  }
  if (model.includes('anthropic.')) checkClaude(inferenceConfig, toolConfig, more);
  else
    refuse(
      more.thinking === undefined && more.anthropic_beta === undefined,
      'extraneous key [thinking] is not permitted',
    );
}

function checkBlock(block: Json, at: string, names: Set<string>): void {
  const kinds = Object.keys(block);
  refuse(kinds.length === 1, `${at}: exactly one member of the union must be set`);
  const [kind = ''] = kinds;
  if (kind === 'text')
    refuse(
      block.text.trim() !== '',
      `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`,
    );
  if (kind in formats) {
    const { format, source, name } = block[kind];
    refuse(formats[kind]?.includes(format) ?? false, `${at}.${kind}.format failed to satisfy enum value set`);
    refuse(source.bytes !== undefined || source.s3Location !== undefined, `${at}.${kind}.source is empty`);
    if (source.bytes !== undefined) refuse(/^[A-Za-z0-9+/]+=*$/.test(source.bytes), `${at}: bytes are no base64`);
    if (kind === 'document') {
      refuse(
        /^[A-Za-z0-9()[\]-]+(?: [A-Za-z0-9()[\]-]+)*$/.test(name) && name.length <= 200,
        `The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.`,
      );
      refuse(
        !names.has(name),
        `Messages contain duplicate document names. Update your messages to use unique document names.`,
      );
      names.add(name);
    }
  }
  if (kind === 'toolUse') {
    refuse(
      /^[a-zA-Z0-9_.:-]{1,64}$/.test(block.toolUse.toolUseId),
      `${at}.toolUse.toolUseId failed to satisfy constraint`,
    );
    refuse(
      typeof block.toolUse.input === 'object',
      `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`,
    );
  }
  if (kind === 'toolResult') refuse(block.toolResult.content.length > 0, `${at}.toolResult.content is empty`);
  if (kind === 'reasoningContent' && block.reasoningContent.reasoningText) {
    refuse(
      typeof block.reasoningContent.reasoningText.signature === 'string',
      `${at}.thinking.signature: Field required`,
    );
  }
}

/** Every call is answered in the very next message, before anything else in it. */
function checkTurn(messages: Json[], index: number): void {
  const idsOf = (message: Json, kind: string): string[] =>
    (message?.content ?? []).flatMap((block: Json) => (block[kind] ? [block[kind].toolUseId] : []));
  const called = idsOf(messages[index - 1], 'toolUse');
  const answered = idsOf(messages[index], 'toolResult');
  const missing = called.filter((id) => !answered.includes(id));
  refuse(
    messages[index].role === 'assistant' || missing.length === 0,
    `Expected toolResult blocks at messages.${index}.content for the following Ids: ${missing.join(', ')}`,
  );
  refuse(
    answered.length <= called.length,
    `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
  );
}

function checkTools(model: string, { tools, toolChoice }: Json): void {
  refuse(tools.length > 0, 'toolConfig.tools must not be empty');
  for (const { toolSpec } of tools) {
    if (!toolSpec) continue;
    refuse(/^[a-zA-Z0-9_-]{1,64}$/.test(toolSpec.name), `toolSpec.name failed to satisfy constraint: ${toolSpec.name}`);
    refuse(toolSpec.description !== '', 'toolSpec.description must have length greater than or equal to 1');
    refuse(
      toolSpec.inputSchema.json.type === 'object',
      `The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.`,
    );
  }
  const forced = toolChoice?.any ? 'any' : toolChoice?.tool ? 'tool' : null;
  const forcible = /anthropic\.|amazon\.nova/.test(model) || (forced === 'any' && model.includes('mistral.'));
  refuse(
    forced === null || forcible,
    `This model doesn't support the toolConfig.toolChoice.${forced} field. Remove toolConfig.toolChoice.${forced} and try again.`,
  );
}

function checkClaude(inferenceConfig: Json, toolConfig: Json, more: Json): void {
  const { thinking } = more;
  refuse(
    inferenceConfig.temperature === undefined || inferenceConfig.topP === undefined,
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  );
  if (!thinking || thinking.type === 'disabled') return;
  refuse((inferenceConfig.temperature ?? 1) === 1, '`temperature` may only be set to 1 when thinking is enabled.');
  refuse(
    !toolConfig?.toolChoice?.any && !toolConfig?.toolChoice?.tool,
    'Thinking may not be enabled when tool_choice forces tool use.',
  );
  if (thinking.type !== 'enabled') return;
  refuse(
    thinking.budget_tokens >= 1024,
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  );
  refuse(
    inferenceConfig.maxTokens > thinking.budget_tokens,
    '`max_tokens` must be greater than `thinking.budget_tokens`.',
  );
}
