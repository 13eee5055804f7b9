/** OpenAI by its responses: they serve messages to a client that asks for it, and everyone where a model has no chat. */
import type { Json } from '../../harness.ts';
import { answers } from '../../providers/chat-api.ts';
import { responds } from '../../providers/responses-api.ts';
import { byCell, type CellName, cells } from '../cells.ts';
import { chatHost, chatScript, responseScript } from '../chat-host.ts';
import { responses } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';

/** Nothing is kept there, so thoughts come and go sealed; what may be left out is spelled out. */
const askedOf =
  (model: string) =>
  (name: CellName): Json => {
    const { input, instructions, tools, ...body } = responses.body(cells[name].question, model);
    return {
      ...body,
      input: [...(instructions ? [{ role: 'developer', content: instructions }] : []), ...input.map(detailed)],
      ...(tools && { tools: tools.map((tool: Json) => ({ ...tool, strict: false })) }),
      store: false,
      include: ['reasoning.encrypted_content'],
    };
  };

const detailed = ({ content, ...item }: Json): Json => ({
  ...item,
  ...(content !== undefined && {
    content: Array.isArray(content)
      ? content.map((part) => (part.type === 'input_image' ? { ...part, detail: 'auto' } : part))
      : content,
  }),
});

const byResponses = (name: string, model: string): MatrixFamily => {
  const host = chatHost({ name, provider: 'openai', model });
  return {
    ...host,
    speaks: ['responses'],
    does: (script) => {
      if (script.fails) return host.does(script);
      const { thought: _, ...shown } = script;
      const [responding, chatting] = [responds(responseScript(script)), answers(chatScript(shown))];
      return (call, response) => (call.path === '/v1/responses' ? responding : chatting)(call, response);
    },
    asked: byCell(askedOf(model)),
    streamed: (body) => ({ ...body, stream: true }),
    // What was thought is shown to those alone who ask for it.
    tells: (told) => ({ ...told, thought: '' }),
    ownTurn: [
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'c2VhbGVk', summary: [] },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'callRome1', name: 'weather', arguments: '{"city":"Rome"}' },
    ],
    turnIn: ({ input }) => input.slice(1, 4),
    refusesBy: { messages: { 'stop reason': 'stop' } },
  };
};

export const openAiByResponses: MatrixFamily = {
  ...byResponses('OpenAI, by responses', 'gpt-5-mini'),
  headers: { 'x-gw-beta': 'use-responses-api-2026-07-30' },
  speaks: ['chat', 'responses'],
};

export const openAiWithoutChat: MatrixFamily = {
  ...byResponses('OpenAI, a model without chat', 'gpt-5.2-pro'),
  nearlySpeaks: [],
  refusesBy: { chat: { 'stop reason': 'stop' }, messages: { 'stop reason': 'stop' } },
};
