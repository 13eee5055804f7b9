/** The public price list, as anyone can read it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';

onEachEngine('model configs', (start) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway.stop());

  const read = async (path: string) => {
    const response = await fetch(gateway.url.replace(/\/v1$/, '') + path);
    return { status: response.status, body: await response.json() };
  };

  test('the prices of a model are cents per token and unit, without a key, under every prefix', async () => {
    for (const prefix of ['', '/v1', '/v2']) {
      const { status, body } = await read(`${prefix}/model-configs/pricing/openai/gpt-4o`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        currency: 'USD',
        pay_as_you_go: {
          request_token: { price: 0.00025 },
          cache_read_input_token: { price: 0.000125 },
          response_token: { price: 0.001 },
          additional_units: { web_search: { price: 1 } },
        },
        batch_config: { request_token: { price: 0.000125 } },
        calculate: { request: { operation: 'sum' }, response: { operation: 'sum' } },
      });
    }
  });

  test('prices that grow with the prompt say from where on', async () => {
    const { body } = await read('/model-configs/pricing/anthropic/claude-sonnet-4-5');
    expect(body.pay_as_you_go.request_token).toEqual({ price: 0.0003 });
    expect(body.context_tiers).toMatchObject([{ above: 200_000, pay_as_you_go: { request_token: { price: 0.0006 } } }]);
  });

  test('a model’s id may hold slashes and colons, written or encoded', async () => {
    const plain = await read('/v1/model-configs/pricing/together-ai/Gryphe/MythoMax-L2-13b');
    const encoded = await read('/v1/model-configs/pricing/together-ai/Gryphe%2FMythoMax-L2-13b');
    const colon = await read('/v1/model-configs/pricing/bedrock/anthropic.claude-3-haiku-20240307-v1:0');
    expect([plain.status, encoded.status, colon.status]).toEqual([200, 200, 200]);
    expect(encoded.body).toEqual(plain.body);
  });

  test('what a model can do is told by its kind', async () => {
    const chat = await read('/model-configs/general/openai/gpt-4o');
    expect(chat.body).toMatchObject({ type: { primary: 'chat' }, disablePlayground: false, isDefault: false });
    expect(chat.body.params.map((parameter: { key: string }) => parameter.key)).toContain('temperature');
    const embedding = await read('/model-configs/general/openai/text-embedding-3-small');
    expect(embedding.body).toMatchObject({ type: { primary: 'embedding' }, params: [], disablePlayground: true });
    const audio = await read('/v1/model-configs/general/openai/whisper-1');
    expect(audio.body.type.primary).toBe('audio');
  });

  test('a provider’s models can be read at once', async () => {
    const pricing = await read('/pricing/anthropic.json');
    expect(pricing.body.default.pricing_config.pay_as_you_go.request_token).toEqual({ price: 0 });
    expect(pricing.body['claude-sonnet-4-0'].pricing_config.pay_as_you_go.request_token).toEqual({ price: 0.0003 });
    const general = await read('/v1/general/anthropic.json');
    expect(general.body['claude-sonnet-4-0'].type.primary).toBe('chat');
  });

  test('what is not known is 404', async () => {
    for (const path of [
      '/model-configs/pricing/openai/no-such-model',
      '/model-configs/pricing/no-such-provider/gpt-4o',
      '/v1/model-configs/general/openai/no-such-model',
      `/model-configs/pricing/openai/${'x'.repeat(300)}`,
      '/model-configs/pricing/openai',
      '/pricing/no-such-provider.json',
      '/general/anthropic.txt',
    ]) {
      expect((await read(path)).status, path).toBe(404);
    }
    const { body } = await read('/model-configs/pricing/openai/no-such-model');
    expect(body.data).toMatchObject({ errorCode: 'AB08', message: 'No such model' });
  });
});
