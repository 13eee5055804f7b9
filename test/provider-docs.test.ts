/** The page of providers is what the providers say of themselves. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { pagePath, providersPage } from '../scripts/provider-docs.ts';
import { inheritedFields, targetFields } from '../src/catalog/target-fields.ts';
import { allProviders } from '../src/providers/index.ts';
import { startGateway, type TestGateway } from './harness.ts';

test('docs/providers.md is as `npm run docs` writes it', () => {
  expect(readFileSync(pagePath, 'utf8')).toBe(providersPage());
});

test('every provider has a section with its name, its settings and its notes', () => {
  const page = providersPage();
  const missing = allProviders.flatMap(({ id, name, fields = [], notes = [] }) => {
    const section = page.split(`\n### ${id}\n`)[1]?.split('\n### ')[0] ?? '';
    const told = [name, ...fields.map((field) => `\`${field.name}\``), ...notes];
    return told.filter((text) => !section.includes(text)).map((text) => `${id}: ${text}`);
  });
  expect(missing).toEqual([]);
});

test('every setting of a provider can be written in a config', () => {
  const known = new Set<string>([...targetFields.keyof().options, ...inheritedFields.keyof().options, 'custom_host']);
  const unknown = allProviders.flatMap(({ id, fields = [] }) =>
    fields.filter(({ name }) => !known.has(name)).map(({ name }) => `${id}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('no sentence lacks its object', () => {
  expect(providersPage().match(/(?:It offers|One of|yes, or|also as) ?[.|]/g)).toBeNull();
});

/** What the page says of one setting. */
interface ToldSetting {
  name: string;
  required: string;
  values: string[];
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

function toldSettings(id: string): ToldSetting[] {
  const section = providersPage().split(`\n### ${id}\n`)[1]?.split('\n### ')[0] ?? '';
  return [...section.matchAll(/^\| `(\w+)` \| (.*?) \| (.*) \|$/gm)].map(
    ([, name = '', required = '', about = '']) => ({
      name,
      required,
      values: quoted(/ One of (.*)\.$/.exec(about)?.[1] ?? ''),
    }),
  );
}

const deployment = { azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o' };
const samples: Record<string, unknown> = {
  azure_deployment_config: [deployment],
  azure_foundry_url: 'https://models.example.com',
  custom_host: 'https://models.example.com/v1',
  watsonx_url: 'https://watsonx.example.com',
};

/** The settings that the page calls required, for each way to authenticate. */
function toldWays(told: readonly ToldSetting[]): Record<string, unknown>[] {
  const mode = told.find(({ values }) => values.length > 0);
  return (mode ? mode.values : ['']).map((way) => {
    const needed = told.filter(
      ({ name, required }) =>
        name !== mode?.name &&
        (required.startsWith('yes') || (required.startsWith('with') && quoted(required).slice(1).includes(way))),
    );
    // Of settings that stand in for each other one is enough.
    const settings = needed.filter(
      ({ required }, index) =>
        !required.startsWith('yes, or') || index === needed.findIndex((other) => other.required.startsWith('yes, or')),
    );
    return Object.fromEntries([
      ...(mode ? [[mode.name, way]] : []),
      ...settings.map(({ name }) => [name, samples[name] ?? 'value-1']),
    ]);
  });
}

describe('saving', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const save = async (ai_provider_id: string, configurations: Record<string, unknown>) => {
    const body = { name: 'Saved', ai_provider_id, configurations, key: 'provider-key' };
    return gateway.post('/v1/integrations', body);
  };

  test('takes each provider with what its page says, in each way, and misses what the page calls required', async () => {
    const wrong: string[] = [];
    for (const { id } of allProviders) {
      const told = toldSettings(id);
      for (const settings of toldWays(told)) {
        const saved = await save(id, settings);
        if (saved.status !== 200)
          wrong.push(`${id} refuses ${JSON.stringify(settings)}: ${JSON.stringify(saved.body)}`);
        for (const name of Object.keys(settings)) {
          const { [name]: _, ...rest } = settings;
          const lacking = await save(id, rest);
          if (lacking.status !== 400 || !JSON.stringify(lacking.body).includes(name))
            wrong.push(`${id} does without ${name}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});
