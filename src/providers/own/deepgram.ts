/** Deepgram: transcripts of recordings, and speech. */
import { EncodedBody } from '../encoded-body.ts';
import { RequestFault } from '../faults.ts';
import { countOf, isObject, listOf, numberOf, objectOf, objectsOf, textOf, wordOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, Translation } from '../provider.ts';
import { readSpeech, spoken } from '../speech.ts';
import { readTranscript, type Spoken, type Transcript, writeTranscript } from '../transcripts.ts';

/** Every option is a parameter of the address. */
function listenPath(facts: CallFacts): string {
  const { language, extras } = readTranscript(facts);
  const query = new URLSearchParams({ model: facts.model });
  if (language) query.set('language', language);
  else query.set('detect_language', 'true');
  for (const [name, value] of Object.entries({ smart_format: 'true', utterances: 'true', ...extras })) {
    if (name === 'url') continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name.replace(/\[\]$/, ''), wordOf(one));
  }
  return `/listen?${query}`;
}

const transcription: Translation = {
  request(facts) {
    const { file, extras } = readTranscript(facts);
    const url = textOf(extras.url);
    if (url !== null) return { url };
    if (!file) throw new RequestFault('file', 'file is missing: send a recording, or its address as url');
    return new EncodedBody(file.contentType, Buffer.from(file.bytes));
  },
  response: (answer, facts) => writeTranscript(facts, transcriptIn(objectOf(answer))),
};

function transcriptIn({ results, metadata }: JsonObject): Transcript {
  const { channels, utterances } = objectOf(results);
  const [channel] = objectsOf(channels);
  const [best] = objectsOf(channel?.alternatives);
  return {
    text: textOf(best?.transcript) ?? '',
    language: textOf(channel?.detected_language) ?? textOf(listOf(best?.languages).at(0)),
    duration: numberOf(objectOf(metadata).duration),
    words: objectsOf(best?.words).map((word) => placed(word, word.punctuated_word ?? word.word)),
    segments: objectsOf(utterances).map((utterance) => placed(utterance, utterance.transcript)),
  };
}

const placed = (entry: JsonObject, text: unknown): Spoken => ({
  text: textOf(text) ?? '',
  start: countOf(entry.start),
  end: countOf(entry.end),
  speaker: numberOf(entry.speaker),
});

/** The encoding that each of OpenAI's formats is. */
const encodings: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  Object.entries({
    mp3: { encoding: 'mp3' },
    opus: { encoding: 'opus', container: 'ogg' },
    aac: { encoding: 'aac' },
    flac: { encoding: 'flac' },
    wav: { encoding: 'linear16', container: 'wav', sample_rate: '24000' },
    pcm: { encoding: 'linear16', container: 'none', sample_rate: '24000' },
  }),
);

/** The voice is the model here; a name that only OpenAI knows says nothing. */
function speakPath(facts: CallFacts): string {
  const { voice, format, extras } = readSpeech(facts);
  const encoding = encodings.get(format);
  if (!encoding) throw new RequestFault('response_format', `Deepgram does not speak ${format}`);
  const model = voice?.startsWith('aura') ? voice : facts.model;
  const others = Object.entries(extras).filter(([, value]) => !isObject(value));
  const query = new URLSearchParams({ model, ...encoding });
  for (const [name, value] of others) query.set(name, wordOf(value));
  return `/speak?${query}`;
}

export const deepgram: Provider = {
  id: 'deepgram',
  name: 'Deepgram',
  address: 'https://api.deepgram.com/v1',
  needsCredential: true,
  headers: keyIn('authorization', 'Token '),
  endpoints: {
    createTranscription: { path: listenPath, translation: transcription },
    createSpeech: { path: speakPath, translation: spoken((facts) => ({ text: readSpeech(facts).input })) },
  },
  notes: [
    'Options of Deepgram’s own, such as diarize and keyterm, are sent as fields of the form; url names a recording on the web instead of a file.',
    'The language is detected where none is named. For speech the model is the voice, such as aura-2-thalia-en.',
  ],
};
