/** The settings of a request, told back in its response as the API does. */
import { isObject, objectOf, objectsOf } from '../../json.ts';
import type { CallFacts, JsonObject } from '../../provider.ts';

const plain = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
];

export function toldBack({ body }: CallFacts): JsonObject {
  const reasoning = objectOf(body.reasoning);
  const text = objectOf(body.text);
  return {
    ...Object.fromEntries(plain.map((name) => [name, body[name] ?? null])),
    background: false,
    previous_response_id: null,
    store: false,
    truncation: body.truncation ?? 'disabled',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    text: { ...text, format: isObject(text.format) ? text.format : { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: objectsOf(body.tools),
    metadata: body.metadata ?? {},
  };
}
