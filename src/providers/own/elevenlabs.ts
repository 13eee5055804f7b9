/** ElevenLabs: speech in voices of one's own, and transcripts. */
import { inPath } from '../compatible/quirks/paths.ts';
import { type FormPart, formBody } from '../encoded-body.ts';
import { RequestFault } from '../faults.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, present, textOf, wordOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, Translation } from '../provider.ts';
import { readSpeech, spoken, wav } from '../speech.ts';
import { readTranscript, type Transcript, writeTranscript } from '../transcripts.ts';

const openAiVoices = new Set([
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
  'marin',
  'cedar',
]);

/** What OpenAI's voices are called here is for the customer to say. */
function voiceOf(facts: CallFacts): string {
  const { voice } = readSpeech(facts);
  if (voice === null) throw new RequestFault('voice', 'voice is missing: name the id of a voice');
  const given = facts.fields.elevenlabs_voice_ids;
  const ids = isObject(given) ? given : objectOf(typeof given === 'string' ? parsed(given) : null);
  const id = textOf(ids[voice]);
  if (id === null && openAiVoices.has(voice)) {
    throw new RequestFault(
      'voice',
      `"${voice}" is a voice of OpenAI: name the id of one of ElevenLabs, or set elevenlabs_voice_ids`,
    );
  }
  return id ?? voice;
}

/** OpenAI's bare samples come 24,000 a second. */
const outputs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mp3: 'mp3_44100_128',
    opus: 'opus_48000_128',
    pcm: 'pcm_24000',
    wav: 'pcm_44100',
  }),
);
const wavRate = 44_100;

function speechPath(facts: CallFacts): string {
  const { format, extras } = readSpeech(facts);
  const output = textOf(extras.output_format) ?? outputs.get(format);
  if (!output) throw new RequestFault('response_format', `ElevenLabs does not speak ${format}`);
  return `/v1/text-to-speech/${inPath(voiceOf(facts))}/stream?output_format=${encodeURIComponent(output)}`;
}

function speechBody(facts: CallFacts): JsonObject {
  const { input, speed, extras } = readSpeech(facts);
  const { output_format: _, voice_settings, ...others } = extras;
  const settings = present({ ...objectOf(voice_settings), speed });
  return present({
    text: input,
    model_id: facts.model,
    voice_settings: Object.keys(settings).length > 0 ? settings : null,
    ...others,
  });
}

/** A header tells the length, so the sound must be whole before it can be sent. */
const wavSpeech: Translation = {
  request: speechBody,
  takes: 'bytes',
  response: (_answer, _facts, { bytes }) => wav(bytes, wavRate),
};

const transcription: Translation = {
  request(facts) {
    const { file, language, extras } = readTranscript(facts);
    const { temperature } = facts.body;
    const fields = present({ model_id: facts.model, language_code: language, temperature, ...extras });
    if (!file && textOf(extras.cloud_storage_url) === null) throw new RequestFault('file', 'file is missing');
    const parts: [string, FormPart][] = Object.entries(fields).map(([name, value]) => [name, wordOf(value)]);
    return formBody(facts.newId('form-'), file ? [...parts, ['file', file]] : parts);
  },
  response: (answer, facts) => writeTranscript(facts, transcriptIn(objectOf(answer))),
};

function transcriptIn({ text, language_code, words }: JsonObject): Transcript {
  const spokenWords = objectsOf(words).filter(({ type }) => type === undefined || type === 'word');
  const placed = spokenWords.map((word) => ({
    text: textOf(word.text) ?? '',
    start: countOf(word.start),
    end: countOf(word.end),
    speaker: textOf(word.speaker_id),
  }));
  return {
    text: textOf(text) ?? '',
    language: textOf(language_code),
    duration: placed.at(-1)?.end ?? null,
    words: placed,
    segments: [],
  };
}

export const elevenlabs: Provider = {
  id: 'elevenlabs',
  name: 'ElevenLabs',
  address: 'https://api.elevenlabs.io',
  needsCredential: true,
  headers: keyIn('xi-api-key'),
  fields: [
    {
      name: 'elevenlabs_voice_ids',
      about: 'The ids of the voices that stand for OpenAI’s, such as {"alloy": "21m00Tcm4TlvDq8ikWAM"}.',
    },
  ],
  endpoints: {
    createSpeech: (facts) => ({
      path: speechPath,
      translation: facts.body.response_format === 'wav' ? wavSpeech : spoken(speechBody),
    }),
    createTranscription: { path: '/v1/speech-to-text', translation: transcription },
    listModels: { path: '/v1/models', translation: { response: (answer) => listed(answer) } },
  },
  notes: [
    'The voice is the id of one; names of OpenAI’s voices are looked up in elevenlabs_voice_ids.',
    'voice_settings, language_code and seed travel as they are; output_format stands over response_format. The length of a transcript is where its last word ends.',
  ],
};

const listed = (models: unknown): JsonObject => ({
  object: 'list',
  data: objectsOf(models).map((model) => ({
    ...model,
    id: textOf(model.model_id) ?? '',
    object: 'model',
    created: 0,
    owned_by: 'elevenlabs',
  })),
});
