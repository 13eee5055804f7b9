/** Claude on Vertex AI: Anthropic's messages, whose address names the model, and which know no form for answers. */
import type { Json } from '../../harness.ts';
import { failure } from '../../providers/anthropic.ts';
import { claudeAnswers, settings } from '../../providers/vertex.ts';
import { byCell, cells } from '../cells.ts';
import { messages } from '../clients.ts';
import type { MatrixFamily } from '../family.ts';
import { anthropic, formedByTool, messageOf, scriptFor } from './anthropic.ts';

const model = 'claude-sonnet-4-6';
const addressed = { method: 'rawPredict', anthropic_version: 'vertex-2023-10-16' };
const here = (body: Json): Json => ({ ...body, ...addressed });
const formed = here(formedByTool);

export const claudeOnVertex: MatrixFamily = {
  ...anthropic,
  name: 'Claude on Vertex AI',
  provider: 'vertex-ai',
  model,
  address: (url) => new URL(url).origin,
  settings,
  speaks: [],
  nearlySpeaks: ['messages'],
  does: (script) =>
    script.fails
      ? failure(script.fails.status, 'rate_limit_error', script.fails.message)
      : (call, response) => claudeAnswers(messageOf(scriptFor(script, call.json)))(call, response),
  received: ({ path, json }) => {
    const [, named, method] = /models\/([^:]+):(\w+)/.exec(path) ?? [];
    return { ...json, model: named, method };
  },
  asked: { ...byCell((name) => here(anthropic.asked[name])), 'structured output': formed },
  askedBy: {
    messages: {
      ...byCell((name) => here(messages.body(cells[name].question, model))),
      'structured output': formed,
    },
    responses: { 'stop reason': here(anthropic.askedBy?.responses?.['stop reason']) },
  },
  streamed: (body) => ({ ...body, method: 'streamRawPredict', stream: true }),
};
