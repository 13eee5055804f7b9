/** What was settled for a session, in Gemini's words and in OpenAI's. */
import { present } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { voiceConfig } from '../generation-config.ts';
import { thinkingConfig } from '../thinking.ts';
import { declaration } from '../tools.ts';
import { mustBeToldToWait } from './rules.ts';
import { type LiveSettings, spokenRate } from './settings.ts';

/** What the service wants to know beside what clients settle. */
export interface LivePlace {
  /** The name under which it knows the model. */
  resource: string;
  /** On what it bills. */
  labels: Readonly<Record<string, string>> | null;
}

interface Setup {
  settings: LiveSettings;
  model: string;
  place: LivePlace;
  /** What system messages said before the session began. */
  system: readonly string[];
  /** The conversation begins with turns that were not had here. */
  seeded: boolean;
}

export function setupOf({ settings, model, place, system, seeded }: Setup): JsonObject {
  const { speaks, transcription } = settings;
  return present({
    model: place.resource,
    generationConfig: generationOf(settings, model),
    systemInstruction: instructionOf(settings, system),
    tools: settings.tools.length > 0 ? toolsOf(settings, model) : null,
    realtimeInputConfig: inputOf(settings),
    inputAudioTranscription: transcription && transcribing(transcription),
    // OpenAI tells with all speech what it says.
    outputAudioTranscription: speaks ? {} : null,
    contextWindowCompression: settings.truncation === 'auto' ? { slidingWindow: {} } : null,
    historyConfig: seeded ? { initialHistoryInClientContent: true } : null,
    labels: place.labels,
  });
}

const generationOf = ({ speaks, voice, limit, effort }: LiveSettings, model: string): JsonObject =>
  present({
    responseModalities: [speaks ? 'AUDIO' : 'TEXT'],
    maxOutputTokens: limit,
    speechConfig: speaks && voice !== null ? voiceConfig(voice) : null,
    thinkingConfig:
      effort === null
        ? null
        : thinkingConfig({ model, reasoning: { mode: 'effort', effort }, showReasoning: null }, true),
  });

export function instructionOf({ instructions }: LiveSettings, system: readonly string[]): JsonObject | null {
  const texts = instructions === null ? system : [instructions, ...system];
  return texts.length > 0 ? { parts: texts.map((text) => ({ text })) } : null;
}

/** A call ends OpenAI's response, so the model must wait for what comes of it. */
export function toolsOf({ tools }: LiveSettings, model: string): JsonObject[] {
  if (tools.length === 0) return [];
  const behavior = mustBeToldToWait(model) ? { behavior: 'BLOCKING' } : {};
  return [{ functionDeclarations: tools.map((tool) => ({ ...declaration(tool, model), ...behavior })) }];
}

/** Where the client says when the user has spoken, speech alone interrupts nothing. */
function inputOf({ detection }: LiveSettings): JsonObject | null {
  const config = present({
    automaticActivityDetection: detectionOf(detection),
    activityHandling: detection?.interrupts ? null : 'NO_INTERRUPTION',
  });
  return Object.keys(config).length > 0 ? config : null;
}

function detectionOf(detection: LiveSettings['detection']): JsonObject | null {
  if (!detection) return { disabled: true };
  return detection.silenceMs === null ? null : { silenceDurationMs: detection.silenceMs };
}

const transcribing = ({ language }: { language: string | null }): JsonObject =>
  language === null ? {} : { languageCodes: [language] };

/** The session as OpenAI would describe it; what Google chooses by itself is left out. */
export const sessionOf = (settings: LiveSettings, model: string, id: string): JsonObject => ({
  type: 'realtime',
  object: 'realtime.session',
  id,
  model,
  output_modalities: [settings.speaks ? 'audio' : 'text'],
  instructions: settings.instructions ?? '',
  tools: settings.tools.map((tool) => present({ type: 'function', ...tool })),
  tool_choice: 'auto',
  max_output_tokens: settings.limit ?? 'inf',
  ...(settings.effort !== null && { reasoning: { effort: settings.effort } }),
  ...(settings.truncation !== null && { truncation: settings.truncation }),
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: settings.rate },
      noise_reduction: null,
      transcription: settings.transcription && present(settings.transcription),
      turn_detection: settings.detection && {
        type: 'server_vad',
        create_response: true,
        interrupt_response: settings.detection.interrupts,
        ...(settings.detection.silenceMs !== null && { silence_duration_ms: settings.detection.silenceMs }),
      },
    },
    output: {
      format: { type: 'audio/pcm', rate: spokenRate },
      speed: 1,
      ...(settings.voice !== null && { voice: settings.voice }),
    },
  },
});
