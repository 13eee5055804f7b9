/** Claude on Amazon Bedrock: messages go to the model as they are, every other dialect through Converse. */
import type { Json } from '../../harness.ts';
import { eventsOf, messageOf as message } from '../../providers/anthropic-api.ts';
import { refusalOf } from '../../providers/anthropic-rules.ts';
import { invoked, invokes, refuses } from '../../providers/bedrock.ts';
import type { Behaviour } from '../../providers/simulated.ts';
import { byCell, type CellName, cells, limit, place, type Script } from '../cells.ts';
import { messages } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';
import { messageOf } from './anthropic.ts';
import { bedrock } from './bedrock.ts';

const model = 'eu.anthropic.claude-sonnet-4-6-v1:0';

const conversed = (name: CellName): Json => ({ ...bedrock.asked[name], model });
const base = conversed('text');

const recordsOf = (events: readonly string[]): Json[] =>
  events.map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)));

/** InvokeModel takes what Anthropic takes, but for what the address says. */
const invoking =
  (script: Script): Behaviour =>
  (call, response) => {
    const { anthropic_version, ...body } = call.json;
    const refusal =
      'model' in body || 'stream' in body || anthropic_version !== 'bedrock-2023-05-31'
        ? 'extraneous key is not permitted'
        : refusalOf({ ...call, json: { ...body, model } });
    if (refusal !== null) return refuses(400, 'ValidationException', refusal)(call, response);
    const whole = message(model, {
      ...messageOf(script),
      usage: { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 10 },
    });
    return invokes(() => (invoked(call)?.operation === 'invoke' ? whole : recordsOf(eventsOf(whole))))(call, response);
  };

export const claudeOnBedrock: MatrixFamily = {
  ...bedrock,
  name: 'Claude on Bedrock',
  model,
  nearlySpeaks: ['messages'],
  refuses: {},
  does: (script) => (call, response) =>
    (!script.fails && invoked(call)?.operation.startsWith('invoke') ? invoking(script) : bedrock.does(script))(
      call,
      response,
    ),
  asked: {
    ...byCell(conversed),
    'structured output': {
      ...base,
      messages: [{ role: 'user', content: [{ text: 'Where?' }] }],
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { schema: JSON.stringify(place), name: 'structured_output' } },
        },
      },
    },
    reasoning: {
      ...base,
      messages: [{ role: 'user', content: [{ text: 'Why?' }] }],
      inferenceConfig: { maxTokens: limit },
      additionalModelRequestFields: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    },
    'stop reason': { ...conversed('stop reason'), additionalModelResponseFieldPaths: ['/stop_sequence'] },
  },
  askedBy: {
    messages: byCell((name) => ({
      ...messages.body(cells[name].question, model),
      operation: 'invoke',
      anthropic_version: 'bedrock-2023-05-31',
    })),
    responses: { 'stop reason': { ...bedrock.askedBy?.responses?.['stop reason'], model } },
  },
  streamed: (body) => ({
    ...body,
    operation: body.operation === 'invoke' ? 'invoke-with-response-stream' : 'converse-stream',
  }),
  ownTurn: {
    role: 'assistant',
    content: [
      { reasoningContent: { reasoningText: { text: 'Let me think.', signature: 'sig' } } },
      ...bedrock.ownTurn.content,
    ],
  },
};
