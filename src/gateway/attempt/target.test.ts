import { describe, expect, test } from 'bun:test';
import { type Lab, newLab, savedProvider, workspaceCaller } from '../../../test/gateway-deps.ts';
import { leafOf } from '../../../test/plans.ts';
import type { SavedProvider } from '../../catalog/catalog.ts';
import { shapeParameters } from '../../catalog/parameters.ts';
import { incomingOf } from '../../http/web.ts';
import { GatewayError } from '../errors.ts';
import { OwnHeaders } from '../request/headers.ts';
import { askedPath, dedicatedRoute, receive } from '../request/receive.ts';
import { select } from '../request/select.ts';
import { resolveTarget, type Target } from './target.ts';

const rule = (more: object = {}) => ({
  enabled: true,
  baseModel: null,
  customHost: null,
  customHeaders: {},
  prices: null,
  ...more,
});

const allowing = (...models: string[]): SavedProvider['models'] => ({
  allowAll: false,
  bySlug: new Map(models.map((model) => [model, rule()])),
});

async function resolve(
  config: Record<string, unknown>,
  body: object,
  headers: Record<string, string> = {},
  lab: Lab = labWith(savedProvider('a'), savedProvider('b', { provider: 'anthropic' })),
): Promise<Target> {
  const path = '/v1/chat/completions';
  const asked = askedPath(path);
  const matched = asked && dedicatedRoute('POST', asked);
  if (!matched) throw new Error('no route');
  const request = new Request(`http://gw${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  const incoming = incomingOf(request);
  const own = new OwnHeaders(incoming.headers.fields, []);
  const workspace = await lab.deps.catalog.workspace('workspace-1');
  if (!workspace) throw new Error('no workspace');
  const context = await select(lab.deps, {
    ...receive(lab.deps, incoming, own, asked, matched),
    caller: workspaceCaller(),
    workspace,
    identifiedAt: 0,
    credentialHeader: 'x-gw-api-key',
    keyHeaders: new Set(),
  });
  const leaf = leafOf(config);
  return resolveTarget(lab.deps, context, leaf, shapeParameters({ ...body }, leaf));
}

function labWith(...saved: SavedProvider[]): Lab {
  const lab = newLab();
  for (const provider of saved) lab.providers.set(provider.slug, provider);
  return lab;
}

const chosen = async (...asked: Parameters<typeof resolve>) => {
  try {
    const { saved, provider, model, credential } = await resolve(...asked);
    return [saved ? `@${saved.slug}` : provider.id, model, credential];
  } catch (fault) {
    if (fault instanceof GatewayError) return fault.code;
    throw fault;
  }
};

const passthrough = { passthrough: true };
const inline = { provider: 'openai', api_key: 'sk-inline' };

describe('the order of resolution', () => {
  test.each<[string, Record<string, unknown>, object, Record<string, string>, unknown]>([
    ['a saved provider of the target', { provider: '@a' }, { model: 'm' }, {}, ['@a', 'm', 'sk-a-secret']],
    ['its virtual key', { virtual_key: 'a' }, { model: 'm' }, {}, ['@a', 'm', 'sk-a-secret']],
    ['a raw name with its credential', inline, { model: 'm' }, {}, ['openai', 'm', 'sk-inline']],
    [
      'a raw name keeps a model that begins with @',
      inline,
      { model: '@cf/x/y' },
      {},
      ['openai', '@cf/x/y', 'sk-inline'],
    ],
    [
      'a model written with the provider stands over the client’s',
      { provider: '@a/own' },
      { model: 'm' },
      {},
      ['@a', 'own', 'sk-a-secret'],
    ],
    [
      'and below an override',
      { provider: '@a/own', override_params: { model: 'x' } },
      { model: 'm' },
      {},
      ['@a', 'x', 'sk-a-secret'],
    ],
    [
      'the prefix of an override',
      { override_params: { model: '@a/x/y:1' } },
      { model: 'm' },
      {},
      ['@a', 'x/y:1', 'sk-a-secret'],
    ],
    ['the prefix of a default', { default_params: { model: '@a/x' } }, {}, {}, ['@a', 'x', 'sk-a-secret']],
    ['the prefix of the client’s model', { retry: { attempts: 1 } }, { model: '@b/x' }, {}, ['@b', 'x', 'sk-b-secret']],
    [
      'the header, for a config without a provider',
      { retry: { attempts: 1 } },
      { model: 'm' },
      { 'x-gw-provider': '@b' },
      ['@b', 'm', 'sk-b-secret'],
    ],
    [
      'the model of the header',
      { retry: { attempts: 1 } },
      {},
      { 'x-gw-provider': '@b/x' },
      ['@b', 'x', 'sk-b-secret'],
    ],
    [
      'a raw name and a credential in headers',
      { retry: { attempts: 1 } },
      { model: 'm' },
      { 'x-gw-provider': 'openai', authorization: 'Bearer k' },
      ['openai', 'm', 'k'],
    ],
    [
      'the same as x-api-key',
      { retry: { attempts: 1 } },
      { model: 'm' },
      { 'x-gw-provider': 'openai', 'x-api-key': 'k' },
      ['openai', 'm', 'k'],
    ],
    ['passthrough: the header', passthrough, { model: 'm' }, { 'x-gw-provider': '@b' }, ['@b', 'm', 'sk-b-secret']],
    ['passthrough: the model', passthrough, { model: '@b/x' }, {}, ['@b', 'x', 'sk-b-secret']],
    ['passthrough: neither', passthrough, { model: 'm' }, {}, 'missing_provider'],
    ['nobody', { retry: { attempts: 1 } }, { model: 'm' }, {}, 'missing_provider'],
  ])('%s', async (_, config, body, headers, expected) => {
    expect(await chosen(config, body, headers)).toEqual(expected as never);
  });

  test('a passthrough target without a provider says that the request names none', async () => {
    await expect(resolve(passthrough, { model: 'm' })).rejects.toThrow(/the request names none/);
  });
});

describe('models', () => {
  test('only those that are enabled may be called', async () => {
    const lab = labWith(savedProvider('a', { models: allowing('good') }));
    expect(await chosen({ provider: '@a' }, { model: 'good' }, {}, lab)).toEqual(['@a', 'good', 'sk-a-secret']);
    expect(await chosen({ provider: '@a' }, { model: 'bad' }, {}, lab)).toBe('model_not_allowed');
    expect(await chosen({ provider: '@a', override_params: { model: 'bad' } }, { model: 'good' }, {}, lab)).toBe(
      'model_not_allowed',
    );
    expect(await chosen({ retry: { attempts: 1 } }, { model: '@a/bad' }, {}, lab)).toBe('model_not_allowed');
  });

  test('where all are allowed, one can still be disabled', async () => {
    const bySlug = new Map([['bad', rule({ enabled: false })]]);
    const lab = labWith(savedProvider('a', { models: { allowAll: true, bySlug } }));
    expect(await chosen({ provider: '@a' }, { model: 'any' }, {}, lab)).toEqual(['@a', 'any', 'sk-a-secret']);
    expect(await chosen({ provider: '@a' }, { model: 'bad' }, {}, lab)).toBe('model_not_allowed');
  });

  test('a custom model is sent under its own name and remembers what it is based on', async () => {
    const bySlug = new Map([['mine', rule({ baseModel: 'gpt-4o' })]]);
    const lab = labWith(savedProvider('a', { models: { allowAll: false, bySlug } }));
    const target = await resolve({ provider: '@a' }, { model: 'mine' }, {}, lab);
    expect([target.model, target.rule?.baseModel]).toEqual(['mine', 'gpt-4o']);
  });
});

describe('custom hosts and headers', () => {
  const bySlug = new Map([['m', rule({ customHost: 'https://model.example/v1', customHeaders: { b: 'model' } })]]);
  const lab = labWith(
    savedProvider('a', {
      customHost: 'https://saved.example/v1',
      customHeaders: { a: 'saved', b: 'saved' },
      models: { allowAll: true, bySlug },
    }),
  );
  const host = async (config: Record<string, unknown>, model: string, headers: Record<string, string> = {}) =>
    (await resolve({ provider: '@a', ...config }, { model }, headers, lab)).customHost;

  test('request, target, model, integration, in this order', async () => {
    expect(await host({}, 'other')).toBe('https://saved.example/v1');
    expect(await host({}, 'm')).toBe('https://model.example/v1');
    expect(await host({ custom_host: 'https://target.example/v1' }, 'm')).toBe('https://target.example/v1');
    const header = { 'x-gw-custom-host': 'https://request.example/v1' };
    expect(await host({ custom_host: 'https://target.example/v1' }, 'm', header)).toBe('https://request.example/v1');
  });

  test('headers of the model stand over those of the integration', async () => {
    const target = await resolve({ provider: '@a' }, { model: 'm' }, {}, lab);
    expect(target.customHeaders).toEqual({ a: 'saved', b: 'model' });
  });

  test('a name that nobody knows, with a host, is taken for an OpenAI-compatible server', async () => {
    const target = await resolve({ provider: 'my-own', custom_host: 'https://h.example/v1' }, { model: 'm' });
    expect([target.provider.id, target.provider.needsCredential]).toEqual(['my-own', false]);
  });
});

describe('providers that may not be used', () => {
  test.each<[string, Partial<SavedProvider>, string, number]>([
    ['disabled', { enabled: false }, 'provider_not_allowed', 403],
    ['expired', { status: 'expired' }, 'provider_not_found', 400],
    ['past its time', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'provider_not_found', 400],
  ])('%s', async (_, more, code, status) => {
    const asked = resolve({ provider: '@a' }, { model: 'm' }, {}, labWith(savedProvider('a', more)));
    await expect(asked).rejects.toMatchObject({ code, status });
  });
});

test('a model whose own name begins with @ goes to the provider that is chosen for it', async () => {
  const body = { model: '@cf/meta/llama-3.1-8b-instruct' };
  expect((await resolve({ provider: '@a' }, body)).model).toBe(body.model);
  expect((await resolve(passthrough, body, { 'x-gw-provider': '@a' })).model).toBe(body.model);
});
