/** What a client may settle for a session, read from OpenAI's `session`. Whatever has no counterpart is refused by its name. */
import type { Tool } from '../../chat/conversation.ts';
import { RequestFault } from '../../faults.ts';
import type { Fields } from '../../fields.ts';
import { generationOf } from '../generation.ts';
import { isHosted } from '../hosted-tools.ts';

type LiveTool = Pick<Tool, 'name' | 'description' | 'parameters'>;

export interface LiveSettings {
  instructions: string | null;
  /** The model answers with speech, and with text where it does not. */
  speaks: boolean;
  voice: string | null;
  tools: readonly LiveTool[];
  limit: number | null;
  effort: string | null;
  truncation: 'auto' | 'disabled' | null;
  /** Samples a second of the client's speech. */
  rate: number;
  transcription: { language: string | null } | null;
  /** Null: the client says when the user has spoken. */
  detection: { silenceMs: number | null; interrupts: boolean } | null;
}

export const defaultLiveSettings: LiveSettings = {
  instructions: null,
  speaks: true,
  voice: null,
  tools: [],
  limit: null,
  effort: null,
  truncation: null,
  rate: 24_000,
  transcription: null,
  detection: { silenceMs: null, interrupts: true },
};

/** The samples a second that the model speaks with. */
export const spokenRate = 24_000;

/** The settings with what the client changes. `models` are the names of the session's own model. */
export function changedSettings(before: LiveSettings, session: Fields, models: readonly string[]): LiveSettings {
  refuseOthers(
    session,
    ['instructions', 'output_modalities', 'audio', 'tools', 'max_output_tokens', 'reasoning', 'truncation'],
    {
      type: ['realtime'],
      object: ['realtime.session'],
      model: models,
      tool_choice: ['auto'],
      parallel_tool_calls: [true],
    },
  );
  const audio = session.object('audio');
  if (audio) refuseOthers(audio, ['input', 'output']);
  return {
    ...before,
    ...(isSaid(session, 'instructions') && { instructions: session.text('instructions') || null }),
    ...(session.has('output_modalities') && { speaks: speaks(session) }),
    ...(isSaid(session, 'tools') && { tools: (session.objects('tools') ?? []).map(readTool) }),
    ...(isSaid(session, 'max_output_tokens') && { limit: limitOf(session) }),
    ...(isSaid(session, 'reasoning') && { effort: effortOf(session, models) }),
    ...(isSaid(session, 'truncation') && { truncation: truncationOf(session) }),
    ...inputSettings(audio?.object('input') ?? null),
    ...outputSettings(audio?.object('output') ?? null),
  };
}

/** Null takes back what was said before. */
const isSaid = ({ json }: Fields, name: string): boolean => json[name] !== undefined;

/** `usual` are fields that Gemini has no word for: to ask for what happens anyway is no loss. */
export function refuseOthers(
  fields: Fields,
  known: readonly string[],
  usual: Readonly<Record<string, readonly unknown[]>> = {},
): void {
  for (const [name, value] of Object.entries(fields.json)) {
    if (value === null || value === undefined || known.includes(name)) continue;
    if ((Array.isArray(value) && value.length === 0) || usual[name]?.includes(value)) continue;
    throw without(fields, name, usual[name]);
  }
}

const without = (fields: Fields, name: string, usual: readonly unknown[] = []): RequestFault => {
  const only = usual.map((value) => JSON.stringify(value)).join(' or ');
  const words = only === '' ? 'leave it out' : `leave it out, or ask for ${only}`;
  return new RequestFault(fields.at(name), `${fields.at(name)} has no counterpart in Gemini Live: ${words}`);
};

function speaks(session: Fields): boolean {
  const [modality, ...others] = session.texts('output_modalities');
  if (others.length === 0 && (modality === 'audio' || modality === 'text')) return modality === 'audio';
  const path = session.at('output_modalities');
  throw new RequestFault(path, `${path} must be ["audio"] or ["text"]: Gemini Live answers with one of them`);
}

function readTool(tool: Fields): LiveTool {
  if (tool.text('type') !== 'function') throw without(tool, 'type', ['function']);
  refuseOthers(tool, ['type', 'name', 'description', 'parameters']);
  const read = {
    name: tool.needText('name'),
    description: tool.text('description'),
    parameters: tool.raw('parameters'),
  };
  // What they find comes with sources, and no event tells them.
  if (!isHosted(read.name, read.parameters)) return read;
  throw new RequestFault(tool.at('name'), `${read.name} is run by Google, which this dialect has no events for`);
}

const limitOf = (session: Fields): number | null =>
  session.json.max_output_tokens === 'inf' ? null : whole(session, 'max_output_tokens', 1);

function whole(fields: Fields, name: string, least: number): number | null {
  const value = fields.number(name);
  if (value === null || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new RequestFault(fields.at(name), `${fields.at(name)} must be a whole number from ${least} on`);
}

function effortOf(session: Fields, [model = '']: readonly string[]): string | null {
  const reasoning = session.object('reasoning');
  if (!reasoning) return null;
  refuseOthers(reasoning, ['effort']);
  const effort = reasoning.text('effort');
  const generation = generationOf(model);
  if (effort === null || generation === null || generation >= 2.5) return effort;
  throw new RequestFault(
    reasoning.at('effort'),
    `the model ${model} does not think: leave ${reasoning.at('effort')} out`,
  );
}

function truncationOf(session: Fields): LiveSettings['truncation'] {
  const value = session.json.truncation;
  if (value === null || value === 'auto' || value === 'disabled') return value;
  throw without(session, 'truncation', ['auto', 'disabled']);
}

function inputSettings(input: Fields | null): Partial<LiveSettings> {
  if (!input) return {};
  refuseOthers(input, ['format', 'transcription', 'turn_detection']);
  const format = input.object('format');
  return {
    ...(format && { rate: rateOf(format) ?? defaultLiveSettings.rate }),
    ...(isSaid(input, 'transcription') && { transcription: transcriptionOf(input.object('transcription')) }),
    ...(isSaid(input, 'turn_detection') && { detection: detectionOf(input.object('turn_detection')) }),
  };
}

function rateOf(format: Fields): number | null {
  refuseOthers(format, ['rate'], { type: ['audio/pcm'] });
  return whole(format, 'rate', 1);
}

function transcriptionOf(transcription: Fields | null): LiveSettings['transcription'] {
  if (!transcription) return null;
  refuseOthers(transcription, ['language']);
  return { language: transcription.text('language') };
}

function detectionOf(detection: Fields | null): LiveSettings['detection'] {
  if (!detection) return null;
  // Gemini's own padding is another thing: how long speech must last until it counts.
  const usual = { type: ['server_vad'], threshold: [0.5], prefix_padding_ms: [300], create_response: [true] };
  refuseOthers(detection, ['silence_duration_ms', 'interrupt_response'], usual);
  return {
    silenceMs: whole(detection, 'silence_duration_ms', 0),
    interrupts: detection.flag('interrupt_response') ?? true,
  };
}

function outputSettings(output: Fields | null): Partial<LiveSettings> {
  if (!output) return {};
  refuseOthers(output, ['format', 'voice'], { speed: [1] });
  const format = output.object('format');
  if (format && (rateOf(format) ?? spokenRate) !== spokenRate) throw without(format, 'rate', [spokenRate]);
  return isSaid(output, 'voice') ? { voice: output.text('voice') } : {};
}
