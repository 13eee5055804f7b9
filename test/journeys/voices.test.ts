/** Speech and transcripts by providers with dialects of their own, asked for with OpenAI's SDK. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import { formIn } from '../providers/picture-makers.ts';
import { type Behaviour, type ReceivedCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { deepgramApi, elevenLabsApi, recording, sonioxApi, sound } from '../providers/voices.ts';
import { startWorld, type World } from '../world.ts';

const apis: Record<string, (key: string) => Behaviour> = {
  deepgram: deepgramApi,
  elevenlabs: elevenLabsApi,
  soniox: sonioxApi,
};
const simulated = new Map<string, SimulatedProvider>();
let world: World;
let client: OpenAI;

beforeAll(async () => {
  world = await startWorld({});
  client = openaiClient(world);
  for (const [id, api] of Object.entries(apis)) {
    const provider = await startProvider(api(`sk-${id}-secret`));
    simulated.set(id, provider);
    const custom_host = id === 'deepgram' ? provider.url : provider.url.replace('/v1', '');
    await world.saveProvider(id, id, provider, {
      configurations: { custom_host, ...(id === 'elevenlabs' && { elevenlabs_voice_ids: { alloy: 'voice-1' } }) },
    });
  }
});
sharedByTests(
  () => world.gateway,
  () => simulated.values(),
);

const calls = (id: string): ReceivedCall[] => simulated.get(id)?.calls ?? [];
const first = (id: string): ReceivedCall => {
  const [call] = calls(id);
  if (!call) throw new Error(`${id} was not asked`);
  return call;
};
const talk = () => toFile(recording, 'talk.wav', { type: 'audio/wav' });
const spoken = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

describe('Deepgram', () => {
  const model = '@deepgram/nova-3';

  test('reads a recording that arrives byte for byte', async () => {
    const asked = { model, file: await talk(), diarize: 'true' };
    const { data, response } = await client.audio.transcriptions.create(asked).withResponse();
    expect(data as unknown).toEqual({ text: 'Hello there.', usage: { type: 'duration', seconds: 4 } });
    expect(first('deepgram').body).toEqual(recording);
    expect(first('deepgram').headers['content-type']).toBe('audio/wav');
    expect(first('deepgram').path).toBe(
      '/v1/listen?model=nova-3&detect_language=true&smart_format=true&utterances=true&diarize=true',
    );
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({ endpoint_type: 'createTranscription', response_status_code: 200 });
  });

  test('tells more where more is wanted', async () => {
    const answer = await client.audio.transcriptions.create({
      model,
      file: await talk(),
      response_format: 'verbose_json',
      language: 'en',
    });
    expect(answer as unknown).toMatchObject({
      task: 'transcribe',
      language: 'en',
      duration: 3.2,
      text: 'Hello there.',
      words: [
        { word: 'Hello', start: 0.1, end: 0.5, speaker: 0 },
        { word: 'there.', start: 0.6, end: 1.25, speaker: 1 },
      ],
      segments: [{ id: 0, text: 'Hello there.', start: 0.1, end: 1.25 }],
    });
    expect(first('deepgram').path).toContain('language=en');
  });

  test.each([
    ['text' as const, 'Hello there.\n'],
    ['srt' as const, '1\n00:00:00,100 --> 00:00:01,250\nHello there.\n\n'],
    ['vtt' as const, 'WEBVTT\n\n00:00:00.100 --> 00:00:01.250\nHello there.\n\n'],
  ])('writes a transcript as %s', async (response_format, expected) => {
    expect((await client.audio.transcriptions.create({ model, file: await talk(), response_format })) as unknown).toBe(
      expected,
    );
  });

  test('speaks, and the sound travels as it is made', async () => {
    const answer = await client.audio.speech.create({
      model: '@deepgram/aura-2-thalia-en',
      voice: 'alloy',
      input: 'Hello',
    });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(await spoken(answer)).toEqual(sound);
    expect(first('deepgram')).toMatchObject({
      path: '/v1/speak?model=aura-2-thalia-en&encoding=mp3',
      json: { text: 'Hello' },
    });
    expect(first('deepgram').json).toEqual({ text: 'Hello' });
  });

  test('refuses in its own words, also where sound was wanted', async () => {
    simulated.get('deepgram')?.script(deepgramApi('another key'));
    const speech = (async () =>
      client.audio.speech.create({ model: '@deepgram/aura', voice: 'alloy', input: 'Hello' }))();
    await expect(speech).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('deepgram error: Invalid credentials.'),
    });
    simulated.get('deepgram')?.script(deepgramApi('sk-deepgram-secret'));
    const missing = new FormData();
    missing.append('model', model);
    const request = new Request('http://unused.invalid', { method: 'POST', body: missing });
    const refused = await world.call(
      '/v1/audio/transcriptions',
      null,
      { 'content-type': request.headers.get('content-type') ?? '' },
      { body: await request.arrayBuffer() },
    );
    expect(refused.status).toBe(400);
    expect((await refused.json()) as unknown).toMatchObject({ error: { field: 'file' } });
  });
});

describe('ElevenLabs', () => {
  const model = '@elevenlabs/eleven_multilingual_v2';

  test('speaks with a voice by id, or with the one that stands for a voice of OpenAI', async () => {
    const answer = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello', speed: 1.1 });
    expect(await spoken(answer)).toEqual(sound);
    expect(first('elevenlabs')).toMatchObject({
      path: '/v1/text-to-speech/voice-1/stream?output_format=mp3_44100_128',
    });
    expect(first('elevenlabs').json).toEqual({
      text: 'Hello',
      model_id: 'eleven_multilingual_v2',
      voice_settings: { speed: 1.1 },
    });
    await client.audio.speech.create({ model, voice: 'JBFqnCBsd6RMkjVDRZzb', input: 'Hello', response_format: 'pcm' });
    expect(calls('elevenlabs')[1]?.path).toBe('/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream?output_format=pcm_24000');
    const unknown = (async () => client.audio.speech.create({ model, voice: 'nova', input: 'Hello' }))();
    await expect(unknown).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('elevenlabs_voice_ids'),
    });
  });

  test('gives a wave file the header that players look for', async () => {
    const answer = await client.audio.speech.create({ model, voice: 'v', input: 'Hello', response_format: 'wav' });
    const file = await spoken(answer);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(file.subarray(44)).toEqual(sound);
    expect([file.toString('latin1', 0, 4), file.readUInt32LE(4), file.readUInt32LE(24)]).toEqual([
      'RIFF',
      36 + sound.length,
      44_100,
    ]);
  });

  test('reads a recording', async () => {
    const answer = await client.audio.transcriptions.create({
      model: '@elevenlabs/scribe_v1',
      file: await talk(),
      language: 'en',
      response_format: 'verbose_json',
    });
    expect(answer as unknown).toMatchObject({
      text: 'Hello there.',
      language: 'eng',
      words: [{ word: 'Hello' }, { word: 'there.' }],
    });
    expect(await formIn(first('elevenlabs'))).toEqual({ model_id: 'scribe_v1', language_code: 'en', file: recording });
  });

  test('refuses in its own words', async () => {
    simulated.get('elevenlabs')?.script(elevenLabsApi('another key'));
    const refused = (async () => client.audio.speech.create({ model, voice: 'v', input: 'Hello' }))();
    await expect(refused).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('elevenlabs error: Invalid API key'),
    });
    simulated.get('elevenlabs')?.script(elevenLabsApi('sk-elevenlabs-secret'));
  });
});

test('Soniox is left the recording, waited for, and cleaned up behind', async () => {
  const answer = await client.audio.transcriptions.create({
    model: '@soniox/stt-async-v3',
    file: await talk(),
    language: 'en',
  });
  expect(answer as unknown).toEqual({ text: 'Hello there.', usage: { type: 'duration', seconds: 4 } });
  expect(await formIn(first('soniox'))).toEqual({ file: recording });
  const made = calls('soniox').map(({ method, path }) => `${method} ${path}`);
  expect(made.slice(0, 5)).toEqual([
    'POST /v1/files',
    'POST /v1/transcriptions',
    'GET /v1/transcriptions/tr-1',
    'GET /v1/transcriptions/tr-1',
    'GET /v1/transcriptions/tr-1/transcript',
  ]);
  expect(made.slice(5).sort()).toEqual(['DELETE /v1/files/file-1', 'DELETE /v1/transcriptions/tr-1']);
  expect(calls('soniox')[1]?.json).toEqual({ model: 'stt-async-v3', file_id: 'file-1', language_hints: ['en'] });
});
