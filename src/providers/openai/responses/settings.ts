/** What a request for a response is besides its conversation: tools, and settings that have another place here than in chat. */
import type { Conversation, Tool } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import { isObject, listOf, present, wordOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';

interface Settings {
  verbosity: unknown;
  tools: readonly JsonObject[];
  /** Under the names that they have in chat. */
  others: Readonly<JsonObject>;
}

export function settingsOf(conversation: Conversation): Settings {
  // The last two only make chat faster, or lean towards words.
  const {
    verbosity,
    web_search_options,
    modalities,
    audio,
    prediction: _,
    logit_bias: __,
    ...others
  } = conversation.extras;
  if (audio !== undefined || listOf(modalities).includes('audio')) {
    throw new RequestFault('modalities', 'modalities: this model answers in text only');
  }
  return { verbosity, tools: [...toolsOf(conversation), ...searchOf(web_search_options)], others };
}

function toolsOf({ tools, hostedTools }: Conversation): JsonObject[] {
  return [
    ...tools.map(toolOf),
    ...hostedTools.map((hosted) => {
      if (own.test(wordOf(hosted.type))) return hosted;
      throw new RequestFault('tools', `tools: "${wordOf(hosted.type)}" is no tool of this provider`);
    }),
  ];
}

/** Tools that OpenAI runs itself; other vendors date theirs in another way. */
const own =
  /^(?:web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d)?|file_search|code_interpreter|computer_use_preview|image_generation|mcp|(?:local_)?shell|apply_patch)$/;

/** Absent would mean strict here, unlike in every other dialect. */
const toolOf = ({ name, description, parameters, strict }: Tool): JsonObject => ({
  type: 'function',
  ...present({ name, description }),
  parameters: parameters ?? { type: 'object', properties: {} },
  strict: strict ?? false,
});

/** In chat a search is asked for by a setting, and says where the user is one level deeper. */
function searchOf(options: unknown): JsonObject[] {
  if (!isObject(options)) return [];
  const { user_location: place, ...rest } = options;
  if (!isObject(place)) return [{ type: 'web_search', ...rest }];
  const { approximate, ...kind } = place;
  return [{ type: 'web_search', ...rest, user_location: { ...kind, ...(isObject(approximate) && approximate) } }];
}
