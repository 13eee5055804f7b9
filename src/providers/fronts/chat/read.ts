/** A chat completions request, read into a conversation. */
import type { Conversation, OutputFormat, Reasoning } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import type { CallFacts } from '../../provider.ts';
import { asksForFunctions } from './calls.ts';
import { turnsOf } from './messages.ts';
import { toolChoiceOf, toolsOf } from './tools.ts';

/** What the reading below takes up; everything else is an extra. */
const known = new Set([
  'model',
  'messages',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'n',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'thinking',
  'response_format',
  'user',
  'metadata',
  'service_tier',
  'stream',
  'stream_options',
]);

export function readChat({ body: json, model, stream }: CallFacts): Conversation {
  const body = new Fields(json);
  const messages = body.needObjects('messages');
  if (messages.length === 0) throw new RequestFault('messages', 'messages must hold at least one message');
  const { tools, hosted } = toolsOf(body);
  return {
    model,
    turns: turnsOf(messages),
    tools,
    hostedTools: hosted,
    toolChoice: toolChoiceOf(body),
    ...parallelCalls(body),
    limit: body.number('max_completion_tokens') ?? body.number('max_tokens'),
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: body.number('top_k'),
    seed: body.number('seed'),
    frequencyPenalty: body.number('frequency_penalty'),
    presencePenalty: body.number('presence_penalty'),
    stop: body.texts('stop'),
    count: body.number('n') ?? 1,
    logprobs: body.flag('logprobs') ? { top: body.number('top_logprobs') ?? 0 } : null,
    ...reasoningOf(body),
    format: formatOf(body),
    user: body.text('user'),
    metadata: body.raw('metadata'),
    serviceTier: body.text('service_tier'),
    stream,
    streamUsage: body.object('stream_options')?.flag('include_usage') ?? false,
    extras: body.others(known),
  };
}

/** The older form of functions has no word for several calls, and no room. */
function parallelCalls(body: Fields): Pick<Conversation, 'parallelToolCalls' | 'tellsOneCall'> {
  const asked = body.flag('parallel_tool_calls');
  return asksForFunctions({ body: body.json }) && asked !== false
    ? { parallelToolCalls: false, tellsOneCall: true }
    : { parallelToolCalls: asked };
}

/** An explicit `thinking` says more than an effort, and wins. */
function reasoningOf(body: Fields): Pick<Conversation, 'reasoning' | 'showReasoning'> {
  const thinking = body.object('thinking');
  const effort = body.text('reasoning_effort');
  if (!thinking) return { reasoning: effort === null ? null : effortOf(effort), showReasoning: null };
  const display = thinking.text('display');
  return {
    reasoning: thinkingOf(thinking, effort),
    showReasoning: display === null ? thinking.flag('include_thoughts') : display !== 'omitted',
  };
}

export const effortOf = (effort: string): Reasoning =>
  effort === 'none' ? { mode: 'off' } : { mode: 'effort', effort };

export function thinkingOf(thinking: Fields, effort: string | null): Reasoning {
  const type = thinking.text('type') ?? 'enabled';
  if (type === 'disabled') return { mode: 'off' };
  const tokens = thinking.number('budget_tokens');
  if (type === 'enabled' && tokens !== null) return { mode: 'budget', tokens };
  if (type === 'enabled' || type === 'adaptive') return { mode: 'adaptive', effort };
  throw new RequestFault(thinking.at('type'), `${thinking.at('type')} must be enabled, adaptive or disabled`);
}

function formatOf(body: Fields): OutputFormat {
  const format = body.object('response_format');
  const type = format?.needText('type') ?? 'text';
  if (type === 'text') return { type: 'text' };
  if (type === 'json_object') return { type: 'json' };
  if (!format || type !== 'json_schema') {
    throw new RequestFault('response_format.type', 'response_format.type must be text, json_object or json_schema');
  }
  const spec = format.needObject('json_schema');
  return {
    type: 'schema',
    name: spec.text('name') ?? 'answer',
    description: spec.text('description'),
    schema: spec.raw('schema') ?? {},
    strict: spec.flag('strict'),
  };
}
