/** What Azure's content filter adds to every answer, taken out for clients that want OpenAI's own fields only. */
import { ProviderFault } from '../faults.ts';
import { isObject, listOf, parsed } from '../json.ts';
import type { JsonObject, ServerEvent, Translation } from '../provider.ts';

const onAnswers = new Set(['prompt_filter_results', 'prompt_annotations']);
const onChoices = new Set([
  'content_filter_results',
  'content_filter_result',
  'content_filter_offsets',
  'content_filter_raw',
]);

/** For chat and completions; everything else about them is OpenAI's. */
export const withoutFilters: Translation = {
  answersOnly: true,
  response: (answer) => {
    if (isObject(answer)) return unfiltered(answer);
    throw new ProviderFault(502, `the answer is no completion: ${JSON.stringify(answer).slice(0, 500)}`);
  },
  stream: () => ({ event: (event) => unfilteredEvent(event), end: () => [] }),
};

const unfiltered = (answer: JsonObject): JsonObject => ({
  ...without(answer, onAnswers),
  ...(Array.isArray(answer.choices) && {
    choices: answer.choices.map((choice: unknown) => (isObject(choice) ? without(choice, onChoices) : choice)),
  }),
});

const without = (object: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.has(name)));

/** Most chunks carry nothing of the filter and travel as they are. */
function unfilteredEvent(event: ServerEvent): ServerEvent[] {
  if (!/_filter_|"prompt_annotations"/.test(event.data)) return [event];
  const chunk = parsed(event.data);
  if (!isObject(chunk)) return [event];
  // The verdict on the prompt comes as a chunk of its own.
  const onlyVerdict = 'prompt_filter_results' in chunk && listOf(chunk.choices).length === 0 && !chunk.usage;
  return onlyVerdict ? [] : [{ event: event.event, data: JSON.stringify(unfiltered(chunk)) }];
}
