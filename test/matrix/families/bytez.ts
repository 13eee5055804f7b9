/** Bytez: open models by their name, which tell neither why they stopped nor what they used; streams come in OpenAI's dialect. */
import type { Json } from '../../harness.ts';
import { answers } from '../../providers/chat-api.ts';
import { json } from '../../providers/simulated.ts';
import { limit, pixel } from '../cells.ts';
import { chatScript, limitAsMaxTokens, standsAt, streamedChat } from '../chat-host.ts';
import { type MatrixFamily, textAlone } from '../family.ts';

const model = 'google/gemma-3-4b-it';
const user = (content: Json): Json => ({ role: 'user', content });
const asking = (messages: Json[], more: Json = {}): Json => ({ messages, params: { max_new_tokens: limit, ...more } });

const streaming = standsAt('/models/v2/openai/v1/chat/completions', 'authorization', 'Key sk-target-secret');

export const bytez: MatrixFamily = {
  name: 'Bytez',
  provider: 'bytez',
  model,
  address: (url) => new URL(url).origin,
  speaks: [],
  does: (script) => (call, response) => {
    const { text, fails } = script;
    if (fails) return json(fails.status, { error: fails.message, output: null })(call, response);
    if (call.json.stream) return streaming(answers(chatScript(script)))(call, response);
    if (call.headers.authorization !== 'Key sk-target-secret' || call.path !== `/models/v2/${model}`) {
      return json(401, { error: 'Unauthorized', output: null })(call, response);
    }
    return json(200, { error: null, output: { role: 'assistant', content: [{ type: 'text', text }] } })(call, response);
  },
  asked: {
    text: asking([user('Hi')]),
    'several turns': asking([user('Hi'), { role: 'assistant', content: 'Hello' }, user('Who are you?')]),
    system: asking([{ role: 'system', content: 'Be brief.' }, user('Hi')]),
    'image in': asking([
      user([
        { type: 'text', text: 'What is it?' },
        { type: 'image', base64: `data:image/png;base64,${pixel}` },
      ]),
    ]),
    ...textAlone.asked,
    reasoning: null,
    'stop reason': asking([user('Go on.')], { stop: ['END'] }),
    error: asking([user('Hi')]),
  },
  askedBy: { responses: { 'stop reason': asking([user('Go on.')]) } },
  streamed: (_, cell, client) => {
    const { stream_options: __, ...body } = limitAsMaxTokens(streamedChat(model, cell, client));
    return body;
  },
  ownTurn: null,
  turnIn: () => null,
  tells: (told, _, stream) => (stream ? told : { ...told, stop: 'done' }),
  usage: { input: 0, cached: 0, output: 0 },
  refuses: {
    ...textAlone.refuses,
    reasoning: 'reasoning_effort',
  },
};
