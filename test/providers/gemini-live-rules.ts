/** What the Live API refuses: it says why in the reason of its close frame, and no more. */
import type { Json } from '../harness.ts';
import { contentShape, refusedWord, type Shape, unknownField } from './gemini-rules.ts';
import type { CloseFrame } from './realtime.ts';

const messageShape: Shape = {
  setup: {
    model: true,
    generationConfig: {
      temperature: true,
      topP: true,
      topK: true,
      seed: true,
      maxOutputTokens: true,
      responseModalities: true,
      mediaResolution: true,
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: true } }, languageCode: true },
      thinkingConfig: { includeThoughts: true, thinkingBudget: true, thinkingLevel: true },
    },
    systemInstruction: contentShape,
    tools: {
      functionDeclarations: {
        name: true,
        description: true,
        parameters: true,
        parametersJsonSchema: true,
        behavior: true,
      },
      googleSearch: true,
    },
    realtimeInputConfig: {
      automaticActivityDetection: {
        disabled: true,
        startOfSpeechSensitivity: true,
        endOfSpeechSensitivity: true,
        prefixPaddingMs: true,
        silenceDurationMs: true,
      },
      activityHandling: true,
      turnCoverage: true,
    },
    inputAudioTranscription: { languageCodes: true },
    outputAudioTranscription: { languageCodes: true },
    contextWindowCompression: { triggerTokens: true, slidingWindow: { targetTokens: true } },
    sessionResumption: { handle: true },
    historyConfig: { initialHistoryInClientContent: true },
    labels: true,
  },
  clientContent: { turns: contentShape, turnComplete: true },
  realtimeInput: {
    audio: { mimeType: true, data: true },
    video: { mimeType: true, data: true },
    text: true,
    activityStart: {},
    activityEnd: {},
    audioStreamEnd: true,
  },
  toolResponse: { functionResponses: { id: true, name: true, response: true, scheduling: true } },
  contextUpdate: { systemInstruction: contentShape, tools: { tools: true } },
};

const invalid = (reason = 'Request contains an invalid argument.'): CloseFrame => ({ code: 1007, reason });

/** One session's rules: they depend on what was said before. */
export class LiveRules {
  readonly #vertex: boolean;
  #setup: Json = null;
  /** History may still be told. */
  #seeding = false;
  /** Set by whoever sends `setupComplete`. */
  ready = false;
  readonly calls = new Set<string>();

  constructor(vertex: boolean) {
    this.#vertex = vertex;
  }

  /** Why the session ends; null where the message is taken. */
  refusalOf(message: Json): CloseFrame | null {
    const unknown = unknownField(message, messageShape, '');
    if (unknown) return invalid(unknown);
    if (Object.keys(message).length !== 1) return invalid();
    if (message.setup) return this.#setup ? invalid() : this.#begin(message.setup);
    if (!this.ready) return invalid('setup must be the first message and only the first');
    if (message.clientContent) return this.#content(message.clientContent);
    if (message.realtimeInput) return this.#input(message.realtimeInput);
    if (message.toolResponse) return this.#results(message.toolResponse.functionResponses);
    return this.#generation >= 3.8 ? null : invalid();
  }

  get #generation(): number {
    return Number(/gemini-(?:live-)?(\d+(?:\.\d+)?)/.exec(this.#setup?.model ?? '')?.[1] ?? 2.5);
  }

  #begin(setup: Json): CloseFrame | null {
    this.#setup = setup;
    const place = this.#vertex ? /^projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\// : /^models\//;
    if (!place.test(setup.model ?? '') || !/live|native-audio/.test(setup.model)) {
      const reason = `${setup.model} is not found for API version v1beta, or is not supported for bidiGenerateContent.`;
      return { code: 1008, reason };
    }
    if (setup.labels && !this.#vertex) return invalid();
    return modalityFault(setup, this.#generation) ?? toolFault(setup, this.#generation) ?? this.#history(setup);
  }

  #history({ historyConfig }: Json): null {
    this.#seeding = historyConfig?.initialHistoryInClientContent === true;
    return null;
  }

  #content({ turns = [], turnComplete }: Json): CloseFrame | null {
    if (turns.some(({ role, parts }: Json) => !['user', 'model'].includes(role) || !parts?.length)) return invalid();
    const isRestricted = this.#generation >= 3 && this.#generation < 3.8;
    if (isRestricted && !this.#seeding) return invalid();
    if (isRestricted && turnComplete) this.#seeding = false;
    return null;
  }

  #input(input: Json): CloseFrame | null {
    const manual = this.#setup.realtimeInputConfig?.automaticActivityDetection?.disabled === true;
    if (this.#seeding) return invalid();
    if ((input.activityStart || input.activityEnd) && !manual) {
      return invalid('Explicit activity control is not supported when automatic activity detection is enabled.');
    }
    if (input.audioStreamEnd && manual) return invalid();
    if (input.audio && !/^audio\/pcm(;rate=\d+)?$/.test(input.audio.mimeType)) return invalid();
    return null;
  }

  #results(results: Json[]): CloseFrame | null {
    const known = results.every(({ id, name, response }) => {
      const isAsked = this.#vertex || this.calls.delete(id);
      return isAsked && name && typeof response === 'object';
    });
    return known ? null : { code: 1008, reason: 'Requested entity was not found.' };
  }
}

function modalityFault({ model, generationConfig = {} }: Json, generation: number): CloseFrame | null {
  const { responseModalities: modalities = ['AUDIO'], speechConfig } = generationConfig;
  const speaksOnly = generation >= 3 || model.includes('native-audio');
  if (modalities.length !== 1 || (modalities[0] !== 'AUDIO' && speaksOnly)) {
    const asked = modalities.join(', ');
    return invalid(`The requested combination of response modalities (${asked}) is not supported by the model.`);
  }
  const voice = speechConfig?.voiceConfig?.prebuiltVoiceConfig?.voiceName;
  if (voice && modalities[0] !== 'AUDIO') return invalid('Cannot extract voices from a non-audio request.');
  return voice && !/^[A-Z]/.test(voice) ? invalid(`Requested voice api_name '${voice}' is not available.`) : null;
}

function toolFault({ tools = [] }: Json, generation: number): CloseFrame | null {
  const functions = tools.flatMap((tool: Json) => tool.functionDeclarations ?? []);
  const worded = functions.map((one: Json) => refusedWord(one.parameters)).find((one: string | null) => one);
  if (worded) return invalid(worded);
  return generation < 3.8 && functions.some(({ behavior }: Json) => behavior === 'BLOCKING') ? invalid() : null;
}
