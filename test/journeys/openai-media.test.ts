/** OpenAI's own SDK on embeddings, moderations, images and audio: forms and binary bodies arrive byte for byte, both ways. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as api from '../providers/openai-api.ts';
import {
  bytes,
  json,
  type ReceivedCall,
  type SimulatedProvider,
  startProvider,
  stream,
} from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startProvider(api.openAiApi);
  world = await startWorld({ a: { provider: 'openai', simulated: provider } });
  client = openaiClient(world);
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);
beforeEach(() => {
  provider.script(api.openAiApi);
});

const received = (): ReceivedCall => {
  const [call] = provider.calls;
  if (!call) throw new Error('The provider was not asked');
  return call;
};

/** The form as the provider reads it. */
const receivedForm = async () => {
  const { body, headers } = received();
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  const fields: Record<string, unknown> = {};
  const files: Record<string, Buffer> = {};
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files[name] = Buffer.from(await value.arrayBuffer());
  }
  return { fields, files };
};

/** A file that holds line ends, boundaries' dashes and every byte value. */
const recording = Buffer.concat([Buffer.from('RIFF\r\n--\r\n----\n\n'), api.speech, Buffer.from('\r\n')]);

describe('embeddings', () => {
  const asked = { model: '@a/text-embedding-3-small', input: 'some text' };

  test('as the SDK asks for them by itself, packed, are unpacked to the same numbers', async () => {
    const { data, usage } = await client.embeddings.create(asked);
    expect(received().json).toEqual({ ...asked, model: 'text-embedding-3-small', encoding_format: 'base64' });
    expect(data[0]?.embedding).toEqual([...new Float32Array(api.vector)]);
    expect(usage.total_tokens).toBe(8);
  });

  test('as plain numbers arrive as they are', async () => {
    const { data } = await client.embeddings.create({ ...asked, encoding_format: 'float', dimensions: 4 });
    expect(data[0]?.embedding).toEqual(api.vector);
    expect(received().json).toMatchObject({ encoding_format: 'float', dimensions: 4 });
  });

  test('leave no vector in the log', async () => {
    const { response } = await client.embeddings.create({ ...asked, encoding_format: 'float' }).withResponse();
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    const log = await world.gateway.get(`/v1/logs/${record?.id}`);
    expect(log.status).toBe(200);
    expect(JSON.stringify(log.body)).not.toContain('-0.25');
    expect(record).toMatchObject({ req_units: 8, endpoint_type: 'embed' });
  });
});

test('moderations keep every category', async () => {
  const answer = await client.moderations.create({ model: '@a/omni-moderation-latest', input: ['one', 'two'] });
  expect(answer as unknown).toEqual(api.moderation);
  expect(received().json).toEqual({ model: 'omni-moderation-latest', input: ['one', 'two'] });
});

test('rerank goes to a host that speaks it, and its search units are known', async () => {
  const results = [{ index: 1, relevance_score: 0.9 }];
  provider.script(json(200, { id: 'r-1', results, meta: { billed_units: { search_units: 1 } } }));
  const asked = { model: '@a/rerank-v3.5', query: 'q', documents: ['a', 'b'], top_n: 1, max_chunks_per_doc: 10 };
  const response = await world.call('/v1/rerank', asked);
  expect((await response.json()) as unknown).toMatchObject({ results });
  expect(received()).toMatchObject({ path: '/v1/rerank', json: { ...asked, model: 'rerank-v3.5' } });
});

describe('images', () => {
  test('are generated from the fields that were sent', async () => {
    const asked = {
      prompt: 'A cat',
      size: '1024x1024' as const,
      quality: 'low' as const,
      background: 'opaque' as const,
    };
    const answer = await client.images.generate({ model: '@a/gpt-image-1', ...asked });
    expect(answer as unknown).toEqual(api.images);
    expect(received()).toMatchObject({ path: '/v1/images/generations', json: { model: 'gpt-image-1', ...asked } });
  });

  test('are edited from files that arrive byte for byte', async () => {
    await client.images.edit({
      model: '@a/gpt-image-1',
      prompt: 'A hat',
      image: [await toFile(recording, 'one.png'), await toFile(api.speech, 'two.png')],
      mask: await toFile(recording, 'mask.png'),
    });
    expect(received().path).toBe('/v1/images/edits');
    const { fields, files } = await receivedForm();
    expect(fields).toMatchObject({ model: 'gpt-image-1', prompt: 'A hat' });
    expect(files.mask).toEqual(recording);
    expect(received().body.includes(recording)).toBe(true);
    expect(received().body.includes(api.speech)).toBe(true);
  });

  test('have variations', async () => {
    const answer = await client.images.createVariation({
      model: '@a/dall-e-2',
      image: await toFile(recording, 'one.png'),
      n: 2,
    });
    expect(answer as unknown).toEqual(api.images);
    const { fields, files } = await receivedForm();
    expect({ fields, image: files.image }).toEqual({ fields: { model: 'dall-e-2', n: '2' }, image: recording });
  });

  test('that stream reach the client event by event', async () => {
    const event = (type: string) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: 'AAAA', partial_image_index: 0 })}\n\n`;
    provider.script(stream([event('image_generation.partial_image'), event('image_generation.completed')]));
    const events = await client.images.generate({ model: '@a/gpt-image-1', prompt: 'A cat', stream: true });
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);
  });
});

describe('audio', () => {
  test('speech is the very bytes that the provider made', async () => {
    const answer = await client.audio.speech.create({ model: '@a/gpt-4o-mini-tts', voice: 'alloy', input: 'Hello' });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(api.speech);
    expect(received().json).toEqual({ model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Hello' });
  });

  test('the shorter spelling of the speech route goes to the same place', async () => {
    const answer = await world.call('/v1/speech', { model: '@a/tts-1', voice: 'alloy', input: 'Hello' });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(api.speech);
    expect(received().path).toBe('/v1/audio/speech');
  });

  test('a transcription sends the recording unchanged and the model without its prefix', async () => {
    const answer = await client.audio.transcriptions.create({
      model: '@a/whisper-1',
      file: await toFile(recording, 'talk.wav'),
      language: 'en',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(answer as unknown).toEqual(api.transcription);
    const { fields, files } = await receivedForm();
    expect(fields).toMatchObject({ model: 'whisper-1', language: 'en' });
    expect(
      received()
        .body.toString('latin1')
        .match(/name="timestamp_granularities\[\]"/g),
    ).toHaveLength(2);
    expect(files.file).toEqual(recording);
  });

  test('a transcription as plain text stays plain text', async () => {
    provider.script(bytes(200, 'Hello there.\n', { 'content-type': 'text/plain; charset=utf-8' }));
    const answer = await client.audio.transcriptions.create({
      model: '@a/whisper-1',
      file: await toFile(recording, 'talk.wav'),
      response_format: 'text',
    });
    expect(answer as unknown).toBe('Hello there.\n');
  });

  test('a transcription that streams is read event by event', async () => {
    const event = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
    provider.script(
      stream([
        event({ type: 'transcript.text.delta', delta: 'Hello' }),
        event({
          type: 'transcript.text.done',
          text: 'Hello',
          usage: { type: 'tokens', input_tokens: 14, output_tokens: 2, total_tokens: 16 },
        }),
        'data: [DONE]\n\n',
      ]),
    );
    const events = await client.audio.transcriptions.create({
      model: '@a/gpt-4o-transcribe',
      file: await toFile(recording, 'talk.wav'),
      stream: true,
    });
    const types: string[] = [];
    for await (const { type } of events) types.push(type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    const { fields } = await receivedForm();
    expect(fields).toMatchObject({ stream: 'true', model: 'gpt-4o-transcribe' });
  });

  test('a translation goes its own way', async () => {
    const answer = await client.audio.translations.create({
      model: '@a/whisper-1',
      file: await toFile(recording, 'talk.wav'),
    });
    expect(answer as unknown).toEqual(api.translation);
    expect(received().path).toBe('/v1/audio/translations');
    expect((await receivedForm()).files.file).toEqual(recording);
  });

  test('a form without a prefix is forwarded as the very bytes that came', async () => {
    const form = new FormData();
    form.append('model', 'whisper-1');
    form.append('file', new Blob([recording]), 'talk.wav');
    const raw = new Request('http://unused.invalid', { method: 'POST', body: form });
    const contentType = raw.headers.get('content-type') ?? '';
    const body = Buffer.from(await raw.arrayBuffer());
    await world.call(
      '/v1/audio/transcriptions',
      null,
      { 'content-type': contentType, 'x-gw-provider': '@a' },
      { body },
    );
    expect(received().headers['content-type']).toBe(contentType);
    expect(received().body).toEqual(body);
  });
});
