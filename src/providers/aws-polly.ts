/** Amazon Polly: speech. */
import { awsAddress, awsAuthentication, awsFields, awsHeaders } from './aws/access.ts';
import { EncodedBody } from './encoded-body.ts';
import { RequestFault } from './faults.ts';
import { present } from './json.ts';
import type { CallFacts, JsonObject, Provider, RawAnswer } from './provider.ts';
import { readSpeech, wav } from './speech.ts';

/** Formats by OpenAI's names, and by Polly's own. A WAV file is made of bare samples here. */
const formats: Readonly<Record<string, string>> = {
  mp3: 'mp3',
  opus: 'ogg_opus',
  ogg_opus: 'ogg_opus',
  ogg_vorbis: 'ogg_vorbis',
  pcm: 'pcm',
  wav: 'pcm',
};

/** Polly's voices for the names that clients of OpenAI use. */
const voices: Readonly<Record<string, string>> = {
  alloy: 'Joanna',
  ash: 'Stephen',
  ballad: 'Arthur',
  coral: 'Ruth',
  echo: 'Matthew',
  fable: 'Amy',
  nova: 'Danielle',
  onyx: 'Gregory',
  sage: 'Olivia',
  shimmer: 'Salli',
};

const engines = new Set(['standard', 'neural', 'long-form', 'generative']);

/** Samples a second, where the client names none. */
const usualRate = 16_000;

function request(facts: CallFacts): JsonObject {
  const { input, voice, format, speed, extras } = readSpeech(facts);
  const output = formats[format];
  if (output === undefined) {
    throw new RequestFault('response_format', `response_format must be one of ${Object.keys(formats).join(', ')}`);
  }
  if (voice === null) throw new RequestFault('voice', 'voice is missing');
  const paced = speed !== null && speed !== 1;
  const rate = extras.sample_rate;
  return present({
    Engine: engines.has(facts.model) ? facts.model : null,
    OutputFormat: output,
    SampleRate: rate === undefined ? null : String(rate),
    Text: paced ? `<speak><prosody rate="${Math.round(speed * 100)}%">${escaped(input)}</prosody></speak>` : input,
    TextType: paced || input.startsWith('<speak>') ? 'ssml' : 'text',
    VoiceId: voices[voice] ?? voice,
    LanguageCode: extras.language_code,
    LexiconNames: extras.lexicon_names,
  });
}

const escaped = (text: string): string => text.replace(/[<>&"']/g, (found) => `&#${found.charCodeAt(0)};`);

function response(_: unknown, facts: CallFacts, { headers, bytes }: RawAnswer): EncodedBody {
  const { format, extras } = readSpeech(facts);
  if (format === 'wav') return wav(bytes, Number(extras.sample_rate) || usualRate);
  return new EncodedBody(headers.get('content-type') ?? 'audio/mpeg', Buffer.from(bytes));
}

export const awsPolly: Provider = {
  id: 'aws-polly',
  name: 'Amazon Polly',
  address: (facts) => awsAddress('polly', facts),
  headers: awsHeaders,
  authentication: (facts) => awsAuthentication(facts, 'polly'),
  modelCalls: { POST: /\/v1\/speech$/i, GET: /\/v1\/voices$/i },
  needsCredential: false,
  fields: awsFields,
  endpoints: { createSpeech: { path: '/v1/speech', translation: { request, takes: 'bytes', response } } },
  notes: [
    'The model is the engine: standard, neural, long-form or generative. The voice is one of Polly’s, such as Joanna; OpenAI’s names stand for voices that come close.',
  ],
};
