/** A responses request, read into a conversation. */
import type { Conversation, OutputFormat } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import { present } from '../../json.ts';
import type { CallFacts } from '../../provider.ts';
import { effortOf, thinkingOf } from '../chat/read.ts';
import { inputTurns } from './items.ts';
import { toolsOf } from './tools.ts';

/** What this dialect defines; everything else is an extra. Some only its own provider can heed, and change nothing of what is said. */
const known = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'include',
  'reasoning',
  'thinking',
  'text',
  'user',
  'metadata',
  'service_tier',
  'stream',
  'stream_options',
  'store',
  'truncation',
  'max_tool_calls',
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  'context_management',
]);

export function readResponses({ body: json, model, stream }: CallFacts): Conversation {
  const body = new Fields(json);
  refuseKept(body);
  return {
    model,
    turns: inputTurns(body),
    ...toolsOf(body),
    parallelToolCalls: body.flag('parallel_tool_calls'),
    limit: body.number('max_output_tokens'),
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: null,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    stop: [],
    count: 1,
    logprobs: logprobsOf(body),
    ...reasoningOf(body),
    format: formatOf(body),
    user: body.text('user'),
    metadata: body.raw('metadata'),
    serviceTier: body.text('service_tier'),
    stream,
    streamUsage: true,
    extras: present(body.others(known)),
  };
}

/** What needs a provider that keeps responses, or works on them when the client is gone. */
function refuseKept(body: Fields): void {
  const refuse = (field: string, reason: string): never => {
    throw new RequestFault(field, `${field}: ${reason}`);
  };
  const keepsNone = 'this provider keeps no responses; send the whole conversation as input';
  if (body.has('previous_response_id')) refuse('previous_response_id', keepsNone);
  if (body.has('conversation')) refuse('conversation', keepsNone);
  if (body.has('prompt')) refuse('prompt', 'this provider keeps no prompts; send instructions and input');
  if (body.flag('background')) refuse('background', 'this provider answers only while the client waits');
}

function logprobsOf(body: Fields): Conversation['logprobs'] {
  const top = body.number('top_logprobs') ?? 0;
  const included = body.texts('include').includes('message.output_text.logprobs');
  return top > 0 || included ? { top } : null;
}

function reasoningOf(body: Fields): Pick<Conversation, 'reasoning' | 'showReasoning'> {
  const spec = body.object('reasoning');
  const effort = spec?.text('effort') ?? null;
  const summary = spec?.text('summary') ?? spec?.text('generate_summary') ?? null;
  const thinking = body.object('thinking');
  if (thinking) return { reasoning: thinkingOf(thinking, effort), showReasoning: true };
  return {
    reasoning: effort === null ? null : effortOf(effort),
    showReasoning: summary === null ? null : summary !== 'none',
  };
}

function formatOf(body: Fields): OutputFormat {
  const format = body.object('text')?.object('format');
  const type = format?.needText('type') ?? 'text';
  if (!format || type === 'text') return { type: 'text' };
  if (type === 'json_object') return { type: 'json' };
  if (type !== 'json_schema') {
    throw new RequestFault(format.at('type'), `${format.at('type')} must be text, json_object or json_schema`);
  }
  return {
    type: 'schema',
    name: format.needText('name'),
    description: format.text('description'),
    schema: format.needObject('schema').json,
    strict: format.flag('strict'),
  };
}
