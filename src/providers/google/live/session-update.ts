/** `session.update`: free before the conversation begins, and bound to what the model can still change after. */
import { isDeepStrictEqual } from 'node:util';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import type { JsonObject } from '../../provider.ts';
import { takesNewContext } from './rules.ts';
import { changedSettings, type LiveSettings } from './settings.ts';
import { instructionOf, toolsOf } from './setup.ts';
import type { Talk } from './talk.ts';

/** What was agreed upon when the conversation began. Samples of another rate say so themselves. */
const settled: readonly [name: keyof LiveSettings, place: string][] = [
  ['speaks', 'session.output_modalities'],
  ['voice', 'session.audio.output.voice'],
  ['limit', 'session.max_output_tokens'],
  ['effort', 'session.reasoning.effort'],
  ['truncation', 'session.truncation'],
  ['transcription', 'session.audio.input.transcription'],
  ['detection', 'session.audio.input.turn_detection'],
];

const context: typeof settled = [
  ['instructions', 'session.instructions'],
  ['tools', 'session.tools'],
];

export function updateSession(talk: Talk, event: Fields): void {
  const settings = changedSettings(talk.settings, event.needObject('session'), talk.models);
  if (talk.begun) updateContext(talk, settings);
  talk.settings = settings;
  talk.describe('session.updated');
}

function updateContext(talk: Talk, settings: LiveSettings): void {
  const { model, settings: before } = talk;
  const changed = (name: keyof LiveSettings): boolean => !isDeepStrictEqual(settings[name], before[name]);
  for (const [name, place] of takesNewContext(model) ? settled : [...settled, ...context]) {
    if (!changed(name)) continue;
    throw new RequestFault(place, `${place} cannot change any more: Gemini Live settles it before the conversation`);
  }
  const update: JsonObject = {
    ...(changed('instructions') && { systemInstruction: instructionOf(settings, talk.system) ?? noInstruction }),
    ...(changed('tools') && { tools: { tools: toolsOf(settings, model) } }),
  };
  if (Object.keys(update).length > 0) talk.outbox.ask({ contextUpdate: update });
}

const noInstruction: JsonObject = { parts: [{ text: '' }] };
