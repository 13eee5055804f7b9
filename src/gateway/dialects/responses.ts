/** The responses dialect: named events with sequence numbers, from `response.created` to `response.completed`. */
import { laterUsage, readResponseUsage } from '../../providers/usage.ts';
import { type Dialect, jsonOf, noteText, objectIn, reportedFault } from './dialect.ts';
import { noteStep } from './responses-steps.ts';
import { responsesTakeover } from './responses-takeover.ts';

const producedBeside: ReadonlySet<unknown> = new Set([
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.mcp_call_arguments.delta',
  'response.custom_tool_call_input.delta',
]);

/** Sound, pictures, code, and steps of tools that the provider runs itself. */
const otherContent = /\.(?:delta|partial_image|searching|interpreting|generating)$|^response\.output_item\.done$/;

export const responsesDialect: Dialect = {
  read(event, state) {
    const json = jsonOf(event);
    if (!json) return 'malformed';
    const response = objectIn(json, 'response');
    if (typeof response.id === 'string') state.id ??= response.id;
    if (typeof response.model === 'string') state.model ??= response.model;
    const usage = readResponseUsage(response);
    if (usage) state.usage = laterUsage(state.usage, usage);
    if (json.type === 'error') return reportedFault(json.error ?? json);
    if (json.type === 'response.failed') return reportedFault(response.error);
    // Only of what is delivered: another target may go on with the number of a fault.
    if (typeof json.sequence_number === 'number') state.sequence = json.sequence_number;
    noteStep(json, state);
    switch (json.type) {
      case 'response.created':
        state.opened = response;
        return 'part';
      case 'response.completed':
      case 'response.incomplete':
        return 'end';
      case 'response.output_text.delta':
        if (typeof json.delta === 'string') noteText(state, json.delta);
        return 'part';
      default:
        if (producedBeside.has(json.type) && typeof json.delta === 'string') state.characters += json.delta.length;
        else if (otherContent.test(String(json.type))) state.otherContent++;
        return 'part';
    }
  },
  // Clients look into the output of whatever response ends a stream.
  errorEvent: ({ code, message }, { opened, sequence }) => ({
    event: 'response.failed',
    data: JSON.stringify({
      type: 'response.failed',
      sequence_number: sequence + 1,
      response: { object: 'response', output: [], ...opened, status: 'failed', error: { code, message } },
    }),
  }),
  terminator: null,
  endsWithBytes: false,
  resume: responsesTakeover,
};
