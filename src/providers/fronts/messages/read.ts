/** A messages request, read into a conversation. */
import type { Conversation, OutputFormat } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { Fields } from '../../fields.ts';
import type { CallFacts } from '../../provider.ts';
import { effortOf, thinkingOf } from '../chat/read.ts';
import { closed, isFullyRequired } from './schema.ts';
import { toolChoiceOf, toolsOf } from './tools.ts';
import { systemTurns, turnsOf } from './turns.ts';

/** What this dialect defines; everything else is an extra. Some only its own provider can heed, and change nothing of what is said. */
const known = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'stop_sequences',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'temperature',
  'top_p',
  'top_k',
  'stream',
  'mcp_servers',
  'service_tier',
  'speed',
  'cache_control',
  'container',
  'context_management',
  'diagnostics',
  'inference_geo',
  'betas',
  'anthropic_beta',
  'anthropic_version',
]);

export function readMessages({ body: json, model, stream }: CallFacts): Conversation {
  const body = new Fields(json);
  const messages = body.needObjects('messages');
  if (messages.length === 0) throw new RequestFault('messages', 'messages must hold at least one message');
  const limit = body.number('max_tokens');
  if (limit === null) throw new RequestFault('max_tokens', 'max_tokens is missing');
  return {
    model,
    turns: [...systemTurns(body), ...turnsOf(messages)],
    ...toolsOf(body),
    ...toolChoiceOf(body),
    limit,
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: body.number('top_k'),
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    stop: body.texts('stop_sequences'),
    count: 1,
    logprobs: null,
    ...reasoningOf(body),
    format: formatOf(body),
    user: body.object('metadata')?.text('user_id') ?? null,
    metadata: null,
    serviceTier: null,
    stream,
    streamUsage: true,
    extras: body.others(known),
  };
}

function reasoningOf(body: Fields): Pick<Conversation, 'reasoning' | 'showReasoning'> {
  const thinking = body.object('thinking');
  const effort = body.object('output_config')?.text('effort') ?? null;
  if (!thinking) return { reasoning: effort === null ? null : effortOf(effort), showReasoning: null };
  const reasoning = thinkingOf(thinking, effort);
  return { reasoning, showReasoning: reasoning.mode === 'off' ? null : thinking.text('display') !== 'omitted' };
}

function formatOf(body: Fields): OutputFormat {
  const format = body.object('output_config')?.object('format') ?? body.object('output_format');
  if (!format) return { type: 'text' };
  const type = format.needText('type');
  if (type !== 'json_schema') throw new RequestFault(format.at('type'), `${format.at('type')} must be json_schema`);
  const schema = closed(format.needObject('schema').json);
  return { type: 'schema', name: 'structured_output', description: null, schema, strict: isFullyRequired(schema) };
}
