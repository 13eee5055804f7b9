/** Reka: a human and a model who take turns, in text; streams come in OpenAI's dialect. */
import type { Json } from '../../harness.ts';
import { answers } from '../../providers/chat-api.ts';
import { json } from '../../providers/simulated.ts';
import { limit, pixel } from '../cells.ts';
import { chatScript, limitAsMaxTokens, standsAt, streamedChat } from '../chat-host.ts';
import { type MatrixFamily, textAlone } from '../family.ts';

const model = 'reka-core';
const human = (text: string, more: Json = {}): Json => ({ type: 'human', text, ...more });
const asking = (conversation_history: Json[], more: Json = {}): Json => ({
  model_name: model,
  conversation_history,
  request_output_len: limit,
  ...more,
});

const streaming = standsAt('/v1/chat/completions', 'authorization', 'Bearer sk-target-secret');
const streamUsage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

export const rekaAi: MatrixFamily = {
  name: 'Reka',
  provider: 'reka-ai',
  model,
  address: (url) => new URL(url).origin,
  speaks: [],
  does: (script) => (call, response) => {
    const { text, stop, fails } = script;
    if (fails) return json(fails.status, { detail: fails.message })(call, response);
    if (call.json.stream) return streaming(answers({ ...chatScript(script), usage: streamUsage }))(call, response);
    if (call.headers['x-api-key'] !== 'sk-target-secret' || call.path !== '/chat') {
      return json(401, { detail: 'Invalid API key' })(call, response);
    }
    return json(200, {
      type: 'model',
      text,
      finish_reason: stop === 'length' ? 'length' : 'stop',
      metadata: { input_tokens: 5, generated_tokens: 3 },
    })(call, response);
  },
  asked: {
    text: asking([human('Hi')]),
    'several turns': asking([human('Hi'), { type: 'model', text: 'Hello' }, human('Who are you?')]),
    system: asking([human('Be brief.\n\nHi')]),
    'image in': asking([human('What is it?', { media_url: `data:image/png;base64,${pixel}` })]),
    ...textAlone.asked,
    reasoning: null,
    'stop reason': asking([human('Go on.')], { stop_words: ['END'] }),
    error: asking([human('Hi')]),
  },
  askedBy: { responses: { 'stop reason': asking([human('Go on.')]) } },
  streamed: (_, cell, client) => limitAsMaxTokens(streamedChat(model, cell, client)),
  ownTurn: null,
  turnIn: () => null,
  usage: { input: 5, cached: 0, output: 3 },
  refuses: {
    ...textAlone.refuses,
    reasoning: 'reasoning_effort',
  },
};
