/** Operations in a provider's own form, through the real data plane: what is asked upstream, and what the client is given. */
import { describe, expect, test } from 'bun:test';
import { askedProvider } from '../../../test/asked-provider.ts';
import { workspaceKey } from '../../../test/gateway-deps.ts';
import type { Json } from '../../../test/harness.ts';
import { bytes, json } from '../../../test/providers/simulated.ts';

const at = askedProvider();

describe('rerank', () => {
  const asked = {
    model: 'vendor/rank-1.5',
    query: 'q',
    documents: ['a', { text: 'b', id: 7 }, 'c'],
    top_n: 2,
    return_documents: true,
    truncate: 'END',
  };
  const results = [
    { index: 1, relevance_score: 0.9, document: { text: 'b', id: 7 } },
    { index: 2, relevance_score: 0.5, document: { text: 'c' } },
  ];

  test('DeepInfra is asked with the query beside each document', async () => {
    at.provider.script(json(200, { scores: [0.1, 0.9, 0.5], input_tokens: 12, request_id: 'r1' }));
    const { body, sent } = await at.ask('deepinfra', '/rerank', asked);
    expect(sent).toEqual({ truncate: 'END', queries: ['q', 'q', 'q'], documents: ['a', 'b', 'c'] });
    expect(body).toMatchObject({ id: 'r1', results, usage: { total_tokens: 12 }, provider: 'deepinfra' });
  });

  test('NVIDIA is asked for passages, and answers with logits', async () => {
    const rankings = [
      { index: 1, logit: 0.9 },
      { index: 0, logit: -3 },
      { index: 2, logit: 0.5 },
    ];
    at.provider.script(json(200, { rankings }));
    const { body, sent } = await at.ask('nvidia-nim', '/rerank', asked);
    expect(at.provider.calls[0]?.path).toBe('/v1/retrieval/vendor/rank-1_5/reranking');
    expect(sent).toEqual({
      truncate: 'END',
      model: 'vendor/rank-1.5',
      query: { text: 'q' },
      passages: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
    });
    expect(body.results).toEqual(results);
  });

  test('Fireworks is asked in the same words, and answers under another name', async () => {
    const data = [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.5 },
    ];
    at.provider.script(json(200, { object: 'list', data, usage: { prompt_tokens: 4, total_tokens: 4 } }));
    const { body, sent } = await at.ask('fireworks-ai', '/rerank', { ...asked, model: 'rank' });
    expect(sent).toEqual({ ...asked, model: 'accounts/fireworks/models/rank' });
    expect(body).toMatchObject({ results, usage: { total_tokens: 4 } });
  });

  test('Hugging Face is asked for texts', async () => {
    at.provider.script(
      json(200, [
        { index: 2, score: 0.5 },
        { index: 1, score: 0.9 },
        { index: 0, score: 0.1 },
      ]),
    );
    const { body, sent } = await at.ask('huggingface', '/rerank', asked);
    expect(sent).toEqual({ truncate: 'END', query: 'q', texts: ['a', 'b', 'c'] });
    expect(body.results).toEqual(results);
  });

  test('the relayed ones keep their bytes', async () => {
    const answer = ' {"results":[ {"index":0,"relevance_score":1.0} ]}';
    at.provider.script(bytes(200, answer, { 'content-type': 'application/json' }));
    const relayed = await at.plane.call('/v1/rerank', JSON.stringify(asked), at.headers('together-ai'));
    expect(await relayed.text()).toBe(answer);
    expect(at.provider.calls[0]?.body.toString()).toBe(JSON.stringify(asked));
  });
});

describe('images', () => {
  const asked = { model: 'vendor/paint', prompt: 'A cat', size: '512x768', n: 2, seed: 0, steps: 9 };

  test('SiliconFlow', async () => {
    at.provider.script(json(200, { images: [{ url: 'https://x/1.png' }, { url: 'https://x/2.png' }], seed: 1 }));
    const { body, sent } = await at.ask('siliconflow', '/images/generations', asked);
    expect(at.provider.calls[0]?.path).toBe('/v1/images/generations');
    expect(sent).toEqual({
      steps: 9,
      model: 'vendor/paint',
      prompt: 'A cat',
      seed: 0,
      image_size: '512x768',
      batch_size: 2,
    });
    expect(body.data).toEqual([{ url: 'https://x/1.png' }, { url: 'https://x/2.png' }]);
  });

  test('Hyperbolic', async () => {
    at.provider.script(json(200, { images: [{ image: 'aGk=' }] }));
    const { body, sent } = await at.ask('hyperbolic', '/images/generations', asked);
    expect(sent).toEqual({
      steps: 9,
      model_name: 'vendor/paint',
      prompt: 'A cat',
      seed: 0,
      width: 512,
      height: 768,
      num_images: 2,
    });
    expect(body.data).toEqual([{ b64_json: 'aGk=' }]);
  });

  test('Fireworks, whose filter answers with an image of nothing', async () => {
    at.provider.script(
      json(200, [{ base64: 'aGk=', finishReason: 'SUCCESS', seed: 1 }]),
      json(200, [{ base64: '', finishReason: 'CONTENT_FILTERED', seed: 1 }]),
    );
    const { body, sent } = await at.ask('fireworks-ai', '/images/generations', {
      ...asked,
      model: 'paint',
      style: 'anime',
    });
    expect(at.provider.calls[0]?.path).toBe('/v1/image_generation/accounts/fireworks/models/paint');
    expect(sent).toEqual({
      steps: 9,
      text_prompts: [{ text: 'A cat', weight: 1 }],
      width: 512,
      height: 768,
      samples: 2,
      seed: 0,
      style_preset: 'anime',
    });
    expect(body.data).toEqual([{ b64_json: 'aGk=' }]);
    expect(at.provider.calls[0]?.headers.accept).toBe('application/json');
    const filtered = await at.ask('fireworks-ai', '/images/generations', asked);
    expect(filtered).toMatchObject({ status: 400, body: { error: { code: 'content_filter' } } });
    at.provider.script(bytes(200, 'hi', { 'content-type': 'image/png' }));
    expect((await at.ask('fireworks-ai', '/images/generations', asked)).body.data).toEqual([{ b64_json: 'aGk=' }]);
  });

  test('FLUX at Fireworks is a workflow that answers with the picture itself', async () => {
    at.provider.script(bytes(200, 'hi', { 'content-type': 'image/jpeg' }));
    const { body, sent } = await at.ask('fireworks-ai', '/images/generations', { ...asked, model: 'flux-1-dev-fp8' });
    expect(at.provider.calls[0]?.path).toBe('/v1/workflows/accounts/fireworks/models/flux-1-dev-fp8/text_to_image');
    expect(sent).toEqual({ steps: 9, prompt: 'A cat', aspect_ratio: '2:3', samples: 2, seed: 0 });
    expect(body.data).toEqual([{ b64_json: 'aGk=' }]);
  });

  test('Together is told the sides, and its own word for base64', async () => {
    at.provider.script(json(200, { data: [{ b64_json: 'aGk=' }] }));
    const { sent } = await at.ask('together-ai', '/images/generations', { ...asked, response_format: 'b64_json' });
    const { size: _, ...rest } = asked;
    expect(sent).toEqual({ ...rest, width: 512, height: 768, response_format: 'base64' });
  });

  test('xAI knows a ratio, no size and no quality', async () => {
    at.provider.script(json(200, { data: [{ url: 'https://x/1.png' }] }));
    const { sent } = await at.ask('x-ai', '/images/generations', { ...asked, quality: 'high', size: '1920x1080' });
    const { size: _, ...rest } = asked;
    expect(sent).toEqual({ ...rest, aspect_ratio: '16:9' });
    const plain = { model: 'grok-image', prompt: 'A cat' };
    await at.ask('x-ai', '/images/generations', plain);
    expect(at.provider.calls.at(-1)?.json).toEqual(plain);
  });
});

describe('embeddings', () => {
  test('Hugging Face answers with bare vectors', async () => {
    at.provider.script(
      json(200, [
        [0.5, 1],
        [2, 3],
      ]),
    );
    const { body, sent } = await at.ask('huggingface', '/embeddings', {
      model: 'm',
      input: ['a', 'b'],
      normalize: true,
    });
    expect(sent).toEqual({ normalize: true, inputs: ['a', 'b'] });
    expect(body.data.map(({ embedding }: Json) => embedding)).toEqual([
      [0.5, 1],
      [2, 3],
    ]);
  });

  test('an endpoint of one’s own at Hugging Face speaks OpenAI’s dialect', async () => {
    at.provider.script(json(200, { object: 'list', data: [] }));
    const body = { model: 'm', input: 'a' };
    const { sent } = await at.ask('huggingface', '/embeddings', body, { 'x-gw-huggingface-base-url': at.provider.url });
    expect(sent).toEqual(body);
    expect(at.provider.calls[0]?.path).toBe('/v1/embeddings');
  });

  test('Snowflake puts each vector into a list of its own', async () => {
    at.provider.script(json(200, { data: [{ embedding: [[0.5, 1]], index: 0 }], usage: { total_tokens: 3 } }));
    const { body, sent } = await at.ask('cortex', '/embeddings', { model: 'm', input: 'a', encoding_format: 'base64' });
    expect(sent).toEqual({ model: 'm', text: ['a'] });
    expect(body.usage.total_tokens).toBe(3);
    const packed = Buffer.from(body.data[0].embedding, 'base64');
    expect([packed.readFloatLE(0), packed.readFloatLE(4)]).toEqual([0.5, 1]);
    expect(at.provider.calls[0]?.headers['x-snowflake-authorization-token-type']).toBe('PROGRAMMATIC_ACCESS_TOKEN');
  });

  test('BytePlus is asked once for each input, and the answers are joined in order', async () => {
    at.provider.script((call, response) => {
      const first = call.json.input[0];
      json(200, { data: { embedding: [first.type === 'text' ? 1 : 2] }, usage: { prompt_tokens: 5 } })(call, response);
    });
    const input = ['a', { image: { url: 'https://x/y.png' } }, { text: 'b', image: { base64: 'aGk=' } }];
    const { body } = await at.ask('byteplus', '/embeddings', { model: 'm', input, dimensions: 8 });
    expect(body.data.map(({ embedding, index }: Json) => [index, ...embedding])).toEqual([
      [0, 1],
      [1, 2],
      [2, 1],
    ]);
    expect(body.usage).toEqual({ prompt_tokens: 15, total_tokens: 15 });
    const sent = at.provider.calls.map(({ json: asked }) => asked);
    expect(sent).toContainEqual({ dimensions: 8, model: 'm', input: [{ type: 'text', text: 'a' }] });
    expect(sent).toContainEqual({
      dimensions: 8,
      model: 'm',
      input: [
        { type: 'text', text: 'b' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    });
  });

  test('Databricks has them at a serving endpoint, and beside them all', async () => {
    at.provider.script(json(200, { object: 'list', data: [] }));
    const body = { model: 'm', input: 'a' };
    await at.ask('databricks', '/embeddings', body);
    expect(at.provider.calls[0]?.path).toBe('/v1/serving-endpoints/embeddings');
    await at.ask('databricks', '/embeddings', body, { 'x-gw-databricks-serving-endpoint-name': 'my bge' });
    expect(at.provider.calls.at(-1)?.path).toBe('/v1/serving-endpoints/my%20bge/invocations');
  });

  const floats = (base64: string): number[] => {
    const packed = Buffer.from(base64, 'base64');
    return Array.from({ length: packed.length / 4 }, (_, index) => packed.readFloatLE(index * 4));
  };

  test.each(['together-ai', 'mistral-ai', 'ollama', 'fireworks-ai', 'some-host-of-our-own'])(
    'asked for in base64, %s gives numbers and the gateway packs them',
    async (id) => {
      const usage = { prompt_tokens: 3, total_tokens: 3 };
      at.provider.script(json(200, { object: 'list', data: [{ index: 0, embedding: [0.5, 1] }], model: 'm', usage }));
      const asked = { model: 'a/m', input: ['a'], encoding_format: 'base64' };
      const { body, sent } = await at.ask(id, '/embeddings', asked);
      expect(sent.encoding_format).toBeUndefined();
      expect(floats(body.data[0].embedding)).toEqual([0.5, 1]);
      expect(body.usage).toEqual(usage);
    },
  );

  test('a host that packs them by itself is taken at its word, and numbers travel as they are', async () => {
    at.provider.script(
      json(200, { data: [{ index: 0, embedding: 'AAAAPw==' }] }),
      bytes(200, ' {"data":[ ]}', { 'content-type': 'application/json' }),
    );
    const packed = await at.ask('together-ai', '/embeddings', { model: 'm', input: 'a', encoding_format: 'base64' });
    expect(packed.body.data[0].embedding).toBe('AAAAPw==');
    const plain = await at.plane.call('/v1/embeddings', { model: 'm', input: 'a' }, at.headers('together-ai'));
    expect(await plain.text()).toBe(' {"data":[ ]}');
  });

  test('Perplexity packs whole numbers of eight bits, which are unpacked unless its own words ask for them', async () => {
    const embedding = Buffer.from(new Int8Array([-128, 0, 127]).buffer).toString('base64');
    at.provider.script(json(200, { data: [{ index: 0, embedding }], usage: { prompt_tokens: 2 } }));
    const asked = { model: 'pplx-embed', input: ['a'], dimensions: 3 };
    const { body, sent } = await at.ask('perplexity-ai', '/embeddings', asked);
    expect(sent).toEqual({ ...asked, encoding_format: 'base64_int8' });
    expect(body).toMatchObject({ data: [{ embedding: [-128, 0, 127] }], usage: { prompt_tokens: 2 } });
    const packed = await at.ask('perplexity-ai', '/embeddings', { ...asked, encoding_format: 'base64' });
    expect(floats(packed.body.data[0].embedding)).toEqual([-128, 0, 127]);
    const own = await at.ask('perplexity-ai', '/embeddings', { ...asked, encoding_format: 'base64_int8' });
    expect(own.body.data[0].embedding).toBe(embedding);
  });
});

describe('audio', () => {
  test('MiniMax speaks in hexadecimal', async () => {
    at.provider.script(
      json(200, { data: { audio: Buffer.from('sound').toString('hex') }, base_resp: { status_code: 0 } }),
      json(200, { base_resp: { status_code: 1002, status_msg: 'rate limit' } }),
    );
    const asked = {
      model: 'speech-02',
      input: 'Hi',
      voice: 'v1',
      speed: 1.5,
      response_format: 'wav',
      pronunciation_dict: {},
    };
    const answer = await at.plane.call('/v1/audio/speech', asked, at.headers('minimax'));
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    expect(await answer.text()).toBe('sound');
    expect(at.provider.calls[0]?.json).toEqual({
      pronunciation_dict: {},
      model: 'speech-02',
      text: 'Hi',
      stream: false,
      output_format: 'hex',
      voice_setting: { voice_id: 'v1', speed: 1.5 },
      audio_setting: { format: 'wav' },
    });
    const failed = await at.plane.call('/v1/audio/speech', asked, at.headers('minimax'));
    expect([failed.status, (await failed.json()).error.message]).toEqual([429, 'minimax error: rate limit']);
  });

  test('Mistral speaks in base64', async () => {
    at.provider.script(json(200, { audio_data: Buffer.from('sound').toString('base64') }));
    const asked = { model: 'voxtral-tts', input: 'Hi', voice: 'v1', response_format: 'wav' };
    const answer = await at.plane.call('/v1/audio/speech', asked, at.headers('mistral-ai'));
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['audio/wav', 'sound']);
    expect(at.provider.calls[0]?.json).toEqual({
      model: 'voxtral-tts',
      input: 'Hi',
      voice_id: 'v1',
      response_format: 'wav',
      stream: false,
    });
  });

  test('xAI speaks at an address of its own', async () => {
    at.provider.script(bytes(200, 'sound', { 'content-type': 'audio/mpeg' }));
    const asked = { model: 'grok-tts', input: 'Hi', voice: 'eve' };
    const answer = await at.plane.call('/v1/audio/speech', asked, at.headers('x-ai'));
    expect(await answer.text()).toBe('sound');
    expect(at.provider.calls[0]).toMatchObject({
      path: '/v1/tts',
      json: { text: 'Hi', voice_id: 'eve', language: 'auto', output_format: { codec: 'mp3' } },
    });
  });

  test('Sarvam speaks in base64', async () => {
    at.provider.script(json(200, { request_id: 'r', audios: [Buffer.from('sound').toString('base64')] }));
    const asked = { model: 'bulbul:v2', input: 'Hi', voice: 'anushka', target_language_code: 'hi-IN' };
    const answer = await at.plane.call('/v1/audio/speech', asked, at.headers('sarvam'));
    expect(await answer.text()).toBe('sound');
    expect(at.provider.calls[0]?.json).toEqual({
      target_language_code: 'hi-IN',
      model: 'bulbul:v2',
      text: 'Hi',
      speaker: 'anushka',
    });
  });

  test.each([
    ['json', '{"text":"Namaste"}'],
    ['text', 'Namaste\n'],
  ])('Sarvam writes down what it hears as %s', async (format, expected) => {
    at.provider.script(json(200, { request_id: 'r', transcript: 'Namaste', language_code: 'hi-IN' }));
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'saarika:v2', language: 'hi-IN', response_format: format }))
      form.set(name, value);
    form.set('file', new File(['RIFF'], 'talk.wav', { type: 'audio/wav' }));
    const answer = await fetch(`${at.plane.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'x-gw-api-key': workspaceKey, ...at.headers('sarvam') },
      body: form,
    });
    expect(await answer.text()).toBe(expected);
    const [call] = at.provider.calls;
    const sent = await new Response(Uint8Array.from(call?.body ?? []), {
      headers: { 'content-type': call?.headers['content-type'] ?? '' },
    }).formData();
    const file = sent.get('file');
    expect([sent.get('model'), sent.get('language_code'), sent.get('response_format')]).toEqual([
      'saarika:v2',
      'hi-IN',
      null,
    ]);
    expect(file instanceof File ? [file.name, await file.text()] : null).toEqual(['talk.wav', 'RIFF']);
  });
});

test('completions of Together end in words that clients know', async () => {
  at.provider.script(json(200, { choices: [{ index: 0, text: 'Hi', finish_reason: 'eos' }] }));
  const { body } = await at.ask('together-ai', '/completions', { model: 'm', prompt: 'a' });
  expect(body.choices[0].finish_reason).toBe('stop');
});

test('the models of Together come as a list like everyone’s', async () => {
  at.provider.script(json(200, [{ id: 'a/b', object: 'model' }]));
  const answer = await fetch(`${at.plane.url}/v1/models`, {
    headers: { 'x-gw-api-key': workspaceKey, ...at.headers('together-ai') },
  });
  expect(await answer.json()).toEqual({ object: 'list', data: [{ id: 'a/b', object: 'model' }] });
});
