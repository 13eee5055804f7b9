/** Chat over Bedrock with OpenAI's own SDK in front: signed, translated to Converse, and read back whole and in frames. */
import { afterAll, describe, expect, test } from 'bun:test';
import { bedrockWorld, claude, question } from '../bedrock-world.ts';
import type { Json } from '../harness.ts';
import { apiKey, converses, keySettings, region, requestId } from '../providers/bedrock.ts';
import { bytes, startProvider } from '../providers/simulated.ts';

const { provider, world, client, received, both } = await bedrockWorld();
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pictures = await startProvider(bytes(200, Buffer.from(pixel, 'base64'), { 'content-type': 'image/png' }));
afterAll(() => pictures.stop());

describe('a chat completion', () => {
  test('is asked for at the model’s own path, signed, with system text apart', async () => {
    const answer = await client.chat.completions.create({
      ...question,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        ...question.messages,
      ],
      max_completion_tokens: 100,
      temperature: 0,
      stop: 'END',
      user: 'u-1',
    });
    expect(answer as Json).toEqual({
      id: requestId,
      object: 'chat.completion',
      created: expect.any(Number),
      model: claude,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 10,
        total_tokens: 30,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      provider: 'bedrock',
    });
    expect(received().path).toBe(`/model/${encodeURIComponent(claude)}/converse`);
    expect(received().json).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Say hello.' }] }],
      system: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
      inferenceConfig: { maxTokens: 100, temperature: 0, stopSequences: ['END'] },
      requestMetadata: { user: 'u-1' },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    });
    expect(JSON.stringify(received().headers)).not.toContain(world.gateway.workspaceKey);
  });

  test('streams as chunks, and does not ask for a compressed stream', async () => {
    const { streamed } = await both({ content: [{ text: 'Grüße' }, { text: ' 👋' }] }, question);
    expect(streamed.choices[0]).toMatchObject({ message: { content: 'Grüße 👋' }, finish_reason: 'stop' });
    expect(streamed.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
    expect(received().path).toBe(`/model/${encodeURIComponent(claude)}/converse-stream`);
    expect(received().headers['accept-encoding']).toBe('identity');
  });

  test('of a model named by an ARN goes to the ARN’s region', async () => {
    const arn = `arn:aws:bedrock:us-west-2:123456789012:inference-profile/${claude}`;
    const refused = await client.chat.completions.create({ ...question, model: arn }).catch((fault) => fault);
    // The simulator lives in one region, and tells that the signature is for another.
    expect(refused.message).toContain("not 'us-west-2'");
    expect(received().path).toBe(`/model/${encodeURIComponent(arn)}/converse`);
  });

  test('travels with an API key as its bearer', async () => {
    await client.chat.completions.create(question, { headers: { 'x-gw-provider': '@aws-key' } });
    expect(received().headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  test('works with credentials in headers', async () => {
    const response = await world.call('/v1/chat/completions', question, {
      'x-gw-provider': 'bedrock',
      'x-gw-aws-access-key-id': keySettings.aws_access_key_id,
      'x-gw-aws-secret-access-key': keySettings.aws_secret_access_key,
      'x-gw-aws-region': region,
      'x-gw-custom-host': provider.url,
    });
    expect(response.status).toBe(200);
  });

  test('without credentials is refused before anybody is asked', async () => {
    const response = await world.call('/v1/chat/completions', question, {
      'x-gw-provider': 'bedrock',
      'x-gw-custom-host': provider.url,
    });
    expect([response.status, provider.calls.length]).toEqual([400, 0]);
    expect((await response.json()) as Json).toMatchObject({ error: { field: 'aws_auth_type' } });
  });

  test('is counted and priced with what its cache read and wrote', async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 1_115,
      cacheReadInputTokens: 1_000,
      cacheWriteInputTokens: 100,
      cacheDetails: [{ ttl: '5m', inputTokens: 100 }],
    };
    provider.script(converses({ content: [{ text: 'Hi' }], usage }));
    const { data, response } = await client.chat.completions
      .create({ ...question, model: 'anthropic.claude-sonnet-4-20250514-v1:0' })
      .withResponse();
    expect(data.usage as Json).toMatchObject({
      prompt_tokens: 1_110,
      completion_tokens: 5,
      total_tokens: 1_115,
      prompt_tokens_details: { cached_tokens: 1_000, cache_creation_tokens: 100 },
    });
    const [record] = await world.records(response.headers.get('x-gw-trace-id') ?? '', 1);
    expect(record).toMatchObject({ req_units: 1_110, res_units: 5, cached_units: 1_000 });
    // Cents: 10 × $3, 100 × $3.75, 1000 × $0.30 and 5 × $15, each for a million tokens.
    expect(record?.cost).toBeCloseTo((10 * 3 + 100 * 3.75 + 1_000 * 0.3 + 5 * 15) / 10_000, 10);
  });
});

describe('pictures and documents', () => {
  test('go as bytes, whether given as data or at an address; S3 is pointed to', async () => {
    const { body } = await world.gateway.get('/v1/workspaces');
    const uri = `s3://bucket/gw/${body.data[0].id}/cat.jpg`;
    await client.chat.completions.create({
      ...question,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare.' },
            { type: 'image_url', image_url: { url: `data:image/png;charset=utf-8;base64,${pixel}` } },
            { type: 'image_url', image_url: { url: `${pictures.url}/pixel` } },
            { type: 'image_url', image_url: { url: uri } },
            {
              type: 'file',
              file: { filename: 'Q3_report: final.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
            },
            {
              type: 'file',
              file: { filename: 'Q3_report: final.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
            },
          ],
        },
      ],
    });
    expect(received().json.messages[0].content).toEqual([
      { text: 'Compare.' },
      { image: { format: 'png', source: { bytes: pixel } } },
      { image: { format: 'png', source: { bytes: pixel } } },
      { image: { format: 'jpeg', source: { s3Location: { uri } } } },
      { document: { format: 'pdf', name: 'Q3-report- final', source: { bytes: 'JVBERi0=' } } },
      { document: { format: 'pdf', name: 'Q3-report- final (2)', source: { bytes: 'JVBERi0=' } } },
    ]);
  });

  test('of a kind that Bedrock does not take are refused by name', async () => {
    const refused = await client.chat.completions
      .create({
        ...question,
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/heic;base64,AAAA' } }] },
        ],
      })
      .catch((fault) => fault);
    expect([refused.status, provider.calls.length]).toEqual([400, 0]);
    expect(refused.message).toContain('image/heic');
  });
});
