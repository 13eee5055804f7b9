/** Anthropic's messages. */
import type { Json } from '../../harness.ts';
import { failure } from '../../providers/anthropic.ts';
import { answers, type Scripted } from '../../providers/anthropic-api.ts';
import { byCell, type Called, cells, place, type Script } from '../cells.ts';
import { messages } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';

const model = 'claude-sonnet-4-6';
const asked = byCell((name) => messages.body(cells[name].question, model));
const { stop_sequences: _, ...withoutStop } = asked['stop reason'];
const use = ({ id, name, args }: Called): Json => ({ type: 'tool_use', id, name, input: args });

export const messageOf = ({ text, thought, calls = [], stop }: Script): Scripted => ({
  content: [
    ...(thought ? [{ type: 'thinking', thinking: thought, signature: 'sig' }] : []),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(use),
  ],
  stop_reason: calls.length > 0 ? 'tool_use' : stop === 'length' ? 'max_tokens' : 'end_turn',
  usage: { cache_read_input_tokens: 10 },
});

const formTool = 'gw_answer_in_given_form';

/** Without a mode for it, the answer is the input of a tool that must be called. */
export const formedByTool: Json = {
  ...messages.body({ turns: [{ user: 'Where?' }] }, model),
  tools: [{ name: formTool, description: 'Give the final answer by calling this tool.', input_schema: place }],
  tool_choice: { type: 'tool', name: formTool, disable_parallel_tool_use: true },
};

/** What the model says to a question, or to a tool that it must call. */
export function scriptFor(script: Script, { tool_choice: choice }: Json): Script {
  if (choice?.type !== 'tool') return script;
  return { calls: [{ id: 'toolu_1', name: choice.name, args: JSON.parse(script.text ?? '{}') }] };
}

export const anthropic: MatrixFamily = {
  name: 'Anthropic',
  provider: 'anthropic',
  model,
  speaks: ['messages'],
  does: (script) =>
    script.fails ? failure(script.fails.status, 'rate_limit_error', script.fails.message) : answers(messageOf(script)),
  // Messages are what it speaks: whoever asks, it must be asked as its own clients ask, with what they may leave to it spelled out.
  asked: {
    ...asked,
    system: { ...asked.system, system: [{ type: 'text', text: 'Be brief.' }] },
    reasoning: { ...asked.reasoning, thinking: { type: 'adaptive' } },
  },
  askedBy: { responses: { 'stop reason': withoutStop } },
  streamed: (body) => ({ ...body, stream: true }),
  ownTurn: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Let me think.', signature: 'sig' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'callRome1', name: 'weather', input: { city: 'Rome' } },
    ],
  },
  turnIn: (body) => body.messages[1],
  usage: { input: 35, cached: 10, output: 15 },
};
