/** What AI Studio does besides chat, behind OpenAI's SDK: embeddings, pictures, speech and models. */
import { beforeAll, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import type { Json } from '../harness.ts';
import { sharedByTests } from '../journey.ts';
import { answers, startGemini, studio } from '../providers/gemini.ts';
import { json, lastCall, type SimulatedProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

let provider: SimulatedProvider;
let world: World;
let client: OpenAI;

beforeAll(async () => {
  provider = await startGemini(studio(json(200, {})));
  world = await startWorld({ gem: { provider: 'google', simulated: provider } });
  client = openaiClient(world, { 'x-gw-provider': '@gem' });
});
sharedByTests(
  () => world.gateway,
  () => [provider],
);

const received = () => lastCall(provider);
const refused = (asking: PromiseLike<unknown>): Promise<Json> =>
  Promise.resolve(asking).then(
    () => Promise.reject(new Error('Nothing failed')),
    (fault) => ({ status: fault.status, message: fault.message }),
  );

test('every input is embedded by itself, in order, and packed as the SDK wants it', async () => {
  const embeddings = studio((call, response) =>
    json(200, {
      embeddings: call.json.requests.map(({ content }: Json) => ({ values: [content.parts[0].text.length, -0.5] })),
    })(call, response),
  );
  provider.script(embeddings);
  const model = 'gemini-embedding-001';
  const answer = await client.embeddings.create({ model, input: ['a', 'ccc'], dimensions: 2 });
  expect(answer.data.map(({ embedding }) => embedding)).toEqual([
    [1, -0.5],
    [3, -0.5],
  ]);
  expect(answer.usage).toEqual({ prompt_tokens: 0, total_tokens: 0 });
  const part = (text: string) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    outputDimensionality: 2,
  });
  expect([received().path, received().json]).toEqual([
    `/v1beta/models/${model}:batchEmbedContents`,
    { requests: [part('a'), part('ccc')] },
  ]);
  const plain = await client.embeddings.create({ model, input: 'a', encoding_format: 'float' });
  expect(plain.data[0]?.embedding).toEqual([1, -0.5]);
  expect(await refused(client.embeddings.create({ model, input: [[1, 2]] }))).toMatchObject({ status: 400 });
});

test('Imagen draws as many as are asked for, and says why it draws none', async () => {
  const model = 'imagen-4.0-generate-001';
  provider.script(
    studio(
      json(200, {
        predictions: [{ bytesBase64Encoded: 'AAAA' }, { raiFilteredReason: 'no' }, { bytesBase64Encoded: 'BBBB' }],
      }),
    ),
  );
  const images = await client.images.generate({ model, prompt: 'A cat', n: 3, size: '1024x1792', quality: 'hd' });
  expect(images.data).toEqual([{ b64_json: 'AAAA' }, { b64_json: 'BBBB' }]);
  expect([received().path, received().json]).toEqual([
    `/v1beta/models/${model}:predict`,
    {
      instances: [{ prompt: 'A cat' }],
      parameters: {
        sampleCount: 3,
        aspectRatio: '9:16',
        outputOptions: { mimeType: 'image/jpeg', compressionQuality: 100 },
      },
    },
  ]);
  provider.script(studio(json(200, { predictions: [{ raiFilteredReason: 'It shows a child.' }] })));
  expect(await refused(client.images.generate({ model, prompt: 'x' }))).toEqual({
    status: 400,
    message: '400 google error: It shows a child.',
  });
});

const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const drawn = {
  candidates: [{ parts: [{ text: 'Here.' }, picture] }],
  usage: { candidatesTokenCount: 1_290, candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_280 }] },
};

test('Gemini’s image models draw one a call, from words and from pictures', async () => {
  const model = 'gemini-2.5-flash-image';
  provider.script(answers(drawn));
  const images = await client.images.generate({ model, prompt: 'A cat', n: 2, size: '1536x1024' });
  expect(images.data).toEqual([{ b64_json: 'AAAA' }, { b64_json: 'AAAA' }]);
  expect(images.usage).toMatchObject({
    input_tokens: 40,
    output_tokens: 2_580,
    output_tokens_details: { image_tokens: 2_560 },
    total_tokens: 2_620,
  });
  expect(provider.calls.map(({ json: body }) => body)).toEqual(
    [1, 2].map(() => ({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })),
  );
  const image = await toFile(Buffer.from('png'), 'cat.png', { type: 'image/png' });
  const edited = await client.images.edit({ model, image, prompt: 'Add a hat' });
  expect(edited.data).toEqual([{ b64_json: 'AAAA' }]);
  expect(received().json.contents[0].parts).toEqual([
    { inlineData: { mimeType: 'image/png', data: Buffer.from('png').toString('base64') } },
    { text: 'Add a hat' },
  ]);
  provider.script(answers({ candidates: [{ parts: [{ text: 'I cannot.' }], finishReason: 'IMAGE_SAFETY' }] }));
  expect(await refused(client.images.generate({ model, prompt: 'x' }))).toEqual({
    status: 400,
    message: '400 google error: I cannot. (IMAGE_SAFETY)',
  });
});

test('pictures in a chat come beside its text, whole and streamed', async () => {
  provider.script(answers(drawn));
  const question = { model: 'gemini-2.5-flash-image', messages: [{ role: 'user' as const, content: 'A cat' }] };
  const shown = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
  const whole = await client.chat.completions.create({ ...question, modalities: ['text', 'image'] as Json });
  expect(whole.choices[0]?.message).toMatchObject({ content: 'Here.', images: shown });
  expect(received().json.generationConfig).toEqual({ responseModalities: ['TEXT', 'IMAGE'] });
  const deltas: Json[] = [];
  for await (const { choices } of await client.chat.completions.create({ ...question, stream: true }))
    deltas.push(choices[0]?.delta);
  expect(deltas.flatMap((delta) => delta?.images ?? [])).toEqual(shown);
});

test('speech is a WAV file, or bare samples', async () => {
  const model = 'gemini-2.5-flash-preview-tts';
  const samples = Buffer.from([1, 0, 2, 0]);
  const sound = { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: samples.toString('base64') } };
  const usage = { candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 10 }] };
  provider.script(answers({ candidates: [{ parts: [sound] }], usage }));
  const asked = { model, input: 'Hi there', voice: 'Kore' };
  const wav = await client.audio.speech.create({ ...asked, instructions: 'Say cheerfully:' });
  const file = Buffer.from(await wav.arrayBuffer());
  expect([
    wav.headers.get('content-type'),
    file.toString('latin1', 0, 4),
    file.readUInt32LE(24),
    file.subarray(44),
  ]).toEqual(['audio/wav', 'RIFF', 24_000, samples]);
  expect(received().json).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Say cheerfully:\n\nHi there' }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
  });
  const [log] = await world.records(wav.headers.get('x-gw-trace-id') ?? '', 1);
  expect(log).toMatchObject({ req_units: 20, res_units: 10, usage_estimated: false });
  // Cents: 20 × $0.50 and 10 × $10, each for a million tokens.
  expect(log?.cost).toBeCloseTo((20 * 0.5 + 10 * 10) / 10_000, 10);
  const bare = await client.audio.speech.create({ ...asked, response_format: 'pcm' });
  expect(Buffer.from(await bare.arrayBuffer())).toEqual(samples);
  expect(await refused(client.audio.speech.create({ ...asked, response_format: 'mp3' }))).toMatchObject({
    status: 400,
  });
});

test('models are listed and found under the names that can be called', async () => {
  const known = { name: 'models/gemini-2.5-flash', displayName: 'Gemini 2.5 Flash', inputTokenLimit: 1_048_576 };
  provider.script(
    studio((call, response) => json(200, call.path.includes('?') ? { models: [known] } : known)(call, response)),
  );
  const model = { id: 'gemini-2.5-flash', object: 'model', created: 0, owned_by: 'google' };
  expect((await client.models.list()).data as Json).toEqual([model]);
  expect(received().path).toBe('/v1beta/models?pageSize=1000');
  expect((await client.models.retrieve('gemini-2.5-flash')) as Json).toMatchObject(model);
  expect(received().path).toBe('/v1beta/models/gemini-2.5-flash');
});
