/** Providers of speech and transcripts, each in its own dialect. */
import { formIn } from './picture-makers.ts';
import { type Behaviour, bytes, json } from './simulated.ts';

export const recording = Buffer.from('RIFF\r\n--\r\n\0\xff recording', 'latin1');
export const sound = Buffer.from(Array.from({ length: 2_048 }, (_, index) => (index * 7) % 256));

const soundOf = (type: string): Behaviour => bytes(200, sound, { 'content-type': type });

const deepgramRefusal = (status: number, code: string, words: string): Behaviour =>
  json(status, { err_code: code, err_msg: words, request_id: 'r-1' });

const deepgramTranscript = {
  metadata: { request_id: 'r-1', duration: 3.2, channels: 1 },
  results: {
    channels: [
      {
        detected_language: 'en',
        alternatives: [
          {
            transcript: 'Hello there.',
            confidence: 0.99,
            words: [
              { word: 'hello', punctuated_word: 'Hello', start: 0.1, end: 0.5, speaker: 0 },
              { word: 'there', punctuated_word: 'there.', start: 0.6, end: 1.25, speaker: 1 },
            ],
          },
        ],
      },
    ],
    utterances: [{ transcript: 'Hello there.', start: 0.1, end: 1.25, speaker: 0 }],
  },
};

export const deepgramApi =
  (key: string): Behaviour =>
  (call, response) => {
    const { pathname, searchParams } = new URL(call.path, 'http://deepgram.invalid');
    if (call.headers.authorization !== `Token ${key}`) {
      return deepgramRefusal(401, 'INVALID_AUTH', 'Invalid credentials.')(call, response);
    }
    if (pathname === '/v1/speak') {
      if (!call.json?.text) return deepgramRefusal(400, 'INVALID_REQUEST', 'Missing text.')(call, response);
      return soundOf(searchParams.get('encoding') === 'mp3' ? 'audio/mpeg' : 'audio/wav')(call, response);
    }
    if (call.body.length === 0) return deepgramRefusal(400, 'Bad Request', 'Bad Request: no audio.')(call, response);
    return json(200, deepgramTranscript)(call, response);
  };

const wrong = (status: number, message: string): Behaviour => json(status, { detail: { status: 'invalid', message } });

export const elevenLabsApi =
  (key: string): Behaviour =>
  async (call, response) => {
    if (call.headers['xi-api-key'] !== key) return wrong(401, 'Invalid API key')(call, response);
    if (call.path.startsWith('/v1/text-to-speech/')) {
      if (!call.json?.text || !call.json.model_id) {
        return json(422, { detail: [{ loc: ['body', 'text'], msg: 'Field required', type: 'missing' }] })(
          call,
          response,
        );
      }
      return soundOf('audio/mpeg')(call, response);
    }
    if (call.path === '/v1/models') return json(200, [{ model_id: 'eleven_v3', name: 'Eleven v3' }])(call, response);
    const form = await formIn(call);
    if (!form.model_id || !form.file) return wrong(400, 'Missing file')(call, response);
    const words = [
      { text: 'Hello', start: 0.1, end: 0.5, type: 'word', speaker_id: 's1' },
      { text: ' ', start: 0.5, end: 0.6, type: 'spacing' },
      { text: 'there.', start: 0.6, end: 1.25, type: 'word', speaker_id: 's1' },
    ];
    return json(200, { language_code: 'eng', language_probability: 0.98, text: 'Hello there.', words })(call, response);
  };

/** Completed at the second time of asking. */
export function sonioxApi(key: string): Behaviour {
  let polls = 0;
  return async (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`) {
      return json(401, { status_code: 401, error_type: 'unauthenticated', message: 'Invalid API key.' })(
        call,
        response,
      );
    }
    const state = { id: 'tr-1', status: polls > 0 ? 'completed' : 'processing', audio_duration_ms: 3200 };
    const routes: Record<string, () => object> = {
      'POST /v1/files': () => ({ id: 'file-1', filename: 'talk.wav' }),
      'POST /v1/transcriptions': () => ({ id: 'tr-1', status: 'queued' }),
      'GET /v1/transcriptions/tr-1': () => {
        polls++;
        return state;
      },
      'GET /v1/transcriptions/tr-1/transcript': () => ({
        id: 'tr-1',
        text: 'Hello there.',
        tokens: [
          { text: 'Hello', start_ms: 100, end_ms: 500, language: 'en' },
          { text: ' there.', start_ms: 600, end_ms: 1250, language: 'en' },
        ],
      }),
      'DELETE /v1/transcriptions/tr-1': () => ({}),
      'DELETE /v1/files/file-1': () => ({}),
    };
    const route = routes[`${call.method} ${call.path}`];
    return route ? json(200, route())(call, response) : json(404, { message: 'not found' })(call, response);
  };
}
