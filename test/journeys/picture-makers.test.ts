/** Images by providers with dialects of their own, asked for with OpenAI's SDK. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type OpenAI, toFile } from 'openai';
import { openaiClient } from '../clients.ts';
import { sharedByTests } from '../journey.ts';
import * as makers from '../providers/picture-makers.ts';
import { type Behaviour, type ReceivedCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startWorld, type World } from '../world.ts';

const { picture, pictureBase64 } = makers;
const made = { status: 'SUCCEEDED', output: ['https://cdn.example.com/1.png'] };
const apis: Record<string, (key: string) => Behaviour> = {
  'stability-ai': makers.stabilityApi,
  segmind: makers.segmindApi,
  'fal-ai': makers.falApi,
  'black-forest-labs': makers.bflApi,
  runware: makers.runwareApi,
  runway: (key) => makers.runwayApi(key, made),
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
    await world.saveProvider(id, id, { url: provider.url.replace('/v1', '') });
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
const refusal = (asked: OpenAI.ImageGenerateParamsNonStreaming) => (async () => client.images.generate(asked))();
const prompt = 'A cat';

describe('Stability AI', () => {
  test('makes several images with the older engines', async () => {
    const model = '@stability-ai/stable-diffusion-xl-1024-v1-0';
    const { data } = await client.images.generate({ model, prompt, n: 2, size: '1024x1024', style: 'vivid' });
    expect(data).toEqual([{ b64_json: pictureBase64 }, { b64_json: pictureBase64 }]);
    expect(first('stability-ai')).toMatchObject({
      path: '/v1/generation/stable-diffusion-xl-1024-v1-0/text-to-image',
      json: {
        text_prompts: [{ text: prompt, weight: 1 }],
        samples: 2,
        width: 1024,
        height: 1024,
        style_preset: 'vivid',
      },
    });
  });

  test('makes one image with the newer services, in the nearest ratio', async () => {
    const asked = { model: '@stability-ai/sd3.5-large', prompt, size: '1792x1024' as const, seed: 7 };
    const { data } = await client.images.generate(asked);
    expect(data).toEqual([{ b64_json: pictureBase64 }]);
    expect(first('stability-ai').path).toBe('/v2beta/stable-image/generate/sd3');
    expect(await makers.formIn(first('stability-ai'))).toEqual({
      prompt,
      aspect_ratio: '16:9',
      seed: '7',
      model: 'sd3.5-large',
    });
    await client.images.generate({ model: '@stability-ai/stable-image-ultra', prompt });
    expect(calls('stability-ai')[1]?.path).toBe('/v2beta/stable-image/generate/ultra');
  });

  test('edits an image that arrives byte for byte', async () => {
    const image = await toFile(picture, 'cat.png', { type: 'image/png' });
    await client.images.edit({ model: '@stability-ai/inpaint', prompt, image, mask: image });
    expect(first('stability-ai').path).toBe('/v2beta/stable-image/edit/inpaint');
    expect(await makers.formIn(first('stability-ai'))).toEqual({ prompt, image: picture, mask: picture });
  });

  test('refuses what the filter holds back, and several images of a service that makes one', async () => {
    await expect(refusal({ model: '@stability-ai/core', prompt: 'forbidden' })).rejects.toMatchObject({
      status: 400,
      code: 'content_filter',
    });
    await expect(refusal({ model: '@stability-ai/core', prompt, n: 2 })).rejects.toMatchObject({ status: 400 });
    await expect(refusal({ model: '@stability-ai/core', prompt, size: 'big' as '256x256' })).rejects.toThrow(
      'size must be written',
    );
  });
});

test('Segmind makes an image with a seed of its own every time', async () => {
  const asked = { model: '@segmind/sdxl1.0-txt2img', prompt, size: '512x512' as const, steps: 20 };
  const { data } = await client.images.generate(asked);
  await client.images.generate(asked);
  expect(data).toEqual([{ b64_json: pictureBase64 }]);
  const [one, other] = calls('segmind').map(({ json }) => json);
  expect(one).toMatchObject({
    prompt,
    samples: 1,
    img_width: 512,
    img_height: 512,
    num_inference_steps: 20,
    base64: true,
  });
  expect(one.seed).not.toBe(other.seed);
  expect(first('segmind').path).toBe('/sdxl1.0-txt2img');
});

describe('fal.ai', () => {
  const model = '@fal-ai/fal-ai/flux/dev';

  test('tells where its images are, or they are fetched, without its key', async () => {
    const byAddress = await client.images.generate({ model, prompt, n: 2, size: '512x512' });
    expect(byAddress.data?.map(({ url }) => url?.endsWith('.png'))).toEqual([true, true]);
    expect(first('fal-ai')).toMatchObject({
      path: '/fal-ai/flux/dev',
      json: { prompt, num_images: 2, image_size: { width: 512, height: 512 } },
    });
    const byBytes = await client.images.generate({ model, prompt, response_format: 'b64_json' });
    expect(byBytes.data).toEqual([{ b64_json: pictureBase64 }]);
    expect(calls('fal-ai').at(-1)?.headers.authorization).toBeUndefined();
  });

  test('refuses in its own words', async () => {
    await expect(refusal({ model, prompt: '' })).rejects.toThrow('body.prompt: field required');
  });
});

test('Black Forest Labs is waited for at its own host, whatever address it names', async () => {
  const asked = {
    model: '@black-forest-labs/flux-pro-1.1',
    prompt,
    size: '1024x1024' as const,
    response_format: 'b64_json' as const,
  };
  const { data } = await client.images.generate(asked);
  expect(data).toEqual([{ b64_json: pictureBase64 }]);
  expect(calls('black-forest-labs').map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/flux-pro-1.1',
    'GET /v1/get_result?id=task-1',
    'GET /v1/get_result?id=task-1',
    'GET /files/sample.png',
  ]);
  expect(first('black-forest-labs').json).toEqual({ prompt, width: 1024, height: 1024 });
  expect(calls('black-forest-labs').at(-1)?.headers['x-key']).toBeUndefined();
});

test('Runware takes a list of tasks', async () => {
  const { data } = await client.images.generate({
    model: '@runware/runware:101@1',
    prompt,
    n: 2,
    response_format: 'b64_json',
  });
  expect(data).toEqual([{ b64_json: pictureBase64 }, { b64_json: pictureBase64 }]);
  expect(first('runware')).toMatchObject({
    path: '/',
    json: [
      {
        taskType: 'imageInference',
        positivePrompt: prompt,
        model: 'runware:101@1',
        width: 1024,
        height: 1024,
        numberResults: 2,
        outputType: 'base64Data',
      },
    ],
  });
});

test('Runway is waited for, and what it refuses is told in its words', async () => {
  const asked = { model: '@runway/gen4_image', prompt, size: '1024x1024' as const };
  expect((await client.images.generate(asked)).data).toEqual([{ url: 'https://cdn.example.com/1.png' }]);
  expect(calls('runway').map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/text_to_image',
    'GET /v1/tasks/task-1',
  ]);
  expect(first('runway').json).toEqual({ model: 'gen4_image', promptText: prompt, ratio: '1024:1024' });
  const failed = { status: 'FAILED', failure: 'Not allowed.', failureCode: 'SAFETY.INPUT.TEXT' };
  simulated.get('runway')?.script(makers.runwayApi('sk-runway-secret', failed));
  await expect(refusal(asked)).rejects.toMatchObject({ status: 400, message: expect.stringContaining('Not allowed.') });
});

test('images are counted in the log', async () => {
  const { response } = await client.images.generate({ model: '@runware/runware:101@1', prompt, n: 3 }).withResponse();
  const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
  expect(record).toMatchObject({ endpoint_type: 'imageGenerate', response_status_code: 200 });
});
