/** What hosts of OpenAI's chat completions refuse in a request, in their own words. */
import type { Json } from '../harness.ts';

type Fault = string | null;

const known = new Set(
  'model messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens temperature top_p seed frequency_penalty presence_penalty stop n reasoning_effort response_format user metadata service_tier stream stream_options logprobs top_logprobs prompt_cache_key safety_identifier'.split(
    ' ',
  ),
);

/** The first thing that is wrong; null when nothing is. */
export function refusalOf(body: Json): Fault {
  if (typeof body?.model !== 'string') return "'model' : property is missing";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "'messages' : minimum number of items is 1";
  const unknown = Object.keys(body).find((name) => !known.has(name));
  if (unknown) return `property '${unknown}' is unsupported`;
  if (body.stream_options && !body.stream) return "'stream_options' is only allowed when 'stream' is enabled";
  return toolsFault(body) ?? messagesFault(body.messages) ?? formatFault(body.response_format);
}

function toolsFault({ tools, tool_choice: choice }: Json): Fault {
  for (const [index, tool] of (tools ?? []).entries()) {
    if (tool.type !== 'function') return `'tools.${index}.type' : value is not one of the allowed values ['function']`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name)) return `Invalid 'tools[${index}].function.name'`;
    const extra = Object.keys(tool).find((name) => name !== 'type' && name !== 'function');
    if (extra) return `property 'tools.${index}.${extra}' is unsupported`;
  }
  if (choice && !tools) return "'tool_choice' is only allowed when 'tools' are specified";
  const name = choice?.function?.name;
  return name && !tools.some((tool: Json) => tool.function.name === name)
    ? `Tool choice '${name}' not found in 'tools' parameter`
    : null;
}

const fields: Record<string, string[]> = {
  system: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'tool_calls', 'refusal', 'reasoning', 'reasoning_content'],
  tool: ['role', 'content', 'tool_call_id'],
};

/** Each call is answered before anybody speaks again. */
function messagesFault(messages: readonly Json[]): Fault {
  let asked: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const allowed = fields[message.role];
    if (!allowed) return `'${at}.role' : '${message.role}' is not a valid role`;
    const extra = Object.keys(message).find((name) => !allowed.includes(name));
    if (extra) return `'${at}' : property '${extra}' is unsupported`;
    const fault = contentFault(message, at);
    if (fault) return fault;
    if (message.role === 'tool') {
      if (!asked.includes(message.tool_call_id))
        return `'${at}' : tool_call_id '${message.tool_call_id}' was not asked for`;
      asked = asked.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (asked.length > 0) return `'${at}' : tool_call_ids did not have response messages: ${asked.join(', ')}`;
    asked = (message.tool_calls ?? []).map(({ id }: Json) => id);
  }
  return null;
}

function contentFault({ role, content, tool_calls: calls }: Json, at: string): Fault {
  for (const call of calls ?? []) {
    if (call.type !== 'function' || typeof call.function.arguments !== 'string') return `'${at}.tool_calls' is invalid`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name)) return `'${at}.tool_calls' has an invalid name`;
  }
  if (content === null) return calls ? null : `'${at}.content' : value must be a string`;
  if (typeof content === 'string') return null;
  const types = role === 'user' ? ['text', 'image_url', 'input_audio', 'file'] : ['text'];
  for (const part of content) {
    if (!types.includes(part.type)) return `'${at}.content' : '${part.type}' is not a valid content part`;
    if (Object.keys(part).length !== 2) return `'${at}.content' : a part has unsupported properties`;
  }
  return content.length > 0 ? null : `'${at}.content' : minimum number of items is 1`;
}

/** Strict schemas require every property and close every object. */
function formatFault(format: Json): Fault {
  if (format?.type !== 'json_schema' || !format.json_schema.strict) return null;
  const open = (schema: Json): boolean =>
    schema.type === 'object'
      ? schema.additionalProperties !== false ||
        Object.keys(schema.properties).some((name) => !schema.required?.includes(name)) ||
        Object.values(schema.properties).some(open)
      : schema.type === 'array' && open(schema.items);
  return open(format.json_schema.schema) ? 'Invalid schema for response_format: every object must be closed' : null;
}
