/** Writes `docs/providers.md` from what the providers say of themselves. */
import { join } from 'node:path';
import { type SettingRule, settingRules } from '../src/admin/integrations/provider-rules.ts';
import type { EndpointKind } from '../src/providers/endpoints.ts';
import { allProviders } from '../src/providers/index.ts';
import type { Provider, ProviderField } from '../src/providers/provider.ts';
import { type ProviderReference, referenceOf } from '../src/providers/reference.ts';

export const pagePath = join(import.meta.dir, '..', 'docs', 'providers.md');

/** In the order in which they are told. */
const words: readonly (readonly [kinds: readonly EndpointKind[], what: string])[] = [
  [['chatComplete'], 'chat'],
  [['complete'], 'completions'],
  [['messages'], 'messages'],
  [['messagesCountTokens'], 'token counts'],
  [['createModelResponse'], 'responses'],
  [['getModelResponse'], 'stored responses'],
  [['embed'], 'embeddings'],
  [['rerank'], 'rerank'],
  [['moderate'], 'moderations'],
  [['imageGenerate'], 'images'],
  [['imageEdit', 'imageVariation'], 'image edits'],
  [['createSpeech'], 'speech'],
  [['createTranscription'], 'transcription'],
  [['createTranslation'], 'translation'],
  [['ocr'], 'OCR'],
  [['realtime'], 'realtime'],
  [['uploadFile', 'listFiles', 'retrieveFile'], 'files'],
  [['createBatch', 'listBatches', 'retrieveBatch'], 'batches'],
  [['createFinetune', 'listFinetunes', 'retrieveFinetune'], 'fine-tuning'],
  [['listModels'], 'model list'],
];

const offersOf = ({ endpoints }: ProviderReference): string =>
  words
    .filter(([kinds]) => kinds.some((kind) => endpoints.includes(kind)))
    .map(([, what]) => what)
    .join(', ');

const opening = `<!-- Written by scripts/provider-docs.ts from src/providers: change the providers, then run it. -->

# Providers

Each provider is a value in \`src/providers/\`; this page is written from those values. A provider that is not here can be called as well, if it speaks OpenAI's dialect: give any name and its address as custom host.

## How to connect

Save a provider once, and every call names it by its slug. Its settings are those of the sections below, as saving checks them; \`custom_host\` replaces the address of any of them, version segment included, and \`custom_headers\` adds headers.

\`\`\`sh
curl -s "$GW/v1/integrations" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"name": "Groq", "slug": "groq", "ai_provider_id": "groq", "key": "PROVIDER_KEY"}'
curl -s "$GW/v1/chat/completions" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"model": "@groq/llama-3.3-70b-versatile", "messages": [{"role": "user", "content": "Hello"}]}'
\`\`\`

Where the organisation allows it, a call can bring the provider, its settings and its credential along. A setting is a header: \`snowflake_account\` is \`x-gw-snowflake-account\`.

\`\`\`sh
curl -s "$GW/v1/chat/completions" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -H 'x-gw-provider: cortex' -H 'x-gw-snowflake-account: myorg-account123' -H 'authorization: Bearer PROVIDER_KEY' \\
  -d '{"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello"}]}'
\`\`\`

Any client dialect works with any provider that offers chat: here Anthropic's, answered by Groq.

\`\`\`sh
curl -s "$GW/v1/messages" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"model": "@groq/llama-3.3-70b-versatile", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'
\`\`\`

Other operations are asked for in one form, whatever the provider's own is. \`SLUG\` is the slug of a provider that you saved and that offers them:

\`\`\`sh
curl -s "$GW/v1/embeddings" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"model": "@SLUG/mistral-embed", "input": ["Hello", "Good day"]}'
curl -s "$GW/v1/rerank" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"model": "@SLUG/nvidia/llama-3.2-nv-rerankqa-1b-v2", "query": "capital of France", "documents": ["Berlin", "Paris"], "top_n": 1}'
curl -s "$GW/v1/images/generations" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' \\
  -d '{"model": "@SLUG/stable-diffusion-xl-1024-v1-0", "prompt": "A lighthouse at dusk", "size": "1024x1024"}'
curl -s "$GW/v1/audio/speech" -H "x-gw-api-key: $KEY" -H 'content-type: application/json' --output hello.mp3 \\
  -d '{"model": "@SLUG/speech-02-hd", "voice": "Calm_Woman", "input": "Hello"}'
\`\`\`

## What is the same everywhere

- A provider that offers chat also answers \`/v1/messages\` and \`/v1/responses\`: where it has no such endpoint of its own, the gateway translates. Streams, tools, images and structured output included.
- Fields that we do not know travel as they are to every provider that speaks OpenAI's dialect.
- What a provider cannot do is refused with 400 and the name of the field. What it refuses although an answer can do without it is not sent on; the section says so.
- For providers other than OpenAI and Azure OpenAI, the role \`developer\` is sent as \`system\`, \`functions\` are sent as tools, and marks for the prompt cache are sent only to those that understand them.
- Thoughts that a provider calls \`reasoning\` are also given as \`reasoning_content\`.
`;

const escaped = (text: string): string => text.replaceAll('|', '\\|');

/** Some are reached by passthrough alone. */
function offerLine(reference: ProviderReference): string {
  const offers = offersOf(reference);
  return offers === '' ? 'It is called by passthrough: `/v1/proxy/` and its own path.' : `It offers ${offers}.`;
}

const overview = (all: readonly ProviderReference[]): string =>
  [
    '## All of them',
    '',
    '| id | name | offers |',
    '| --- | --- | --- |',
    ...all.map(
      (each) => `| [\`${each.id}\`](#${each.id}) | ${escaped(each.name)} | ${offersOf(each) || 'passthrough'} |`,
    ),
    '',
  ].join('\n');

function section(reference: ProviderReference): string {
  const { id, name, aliases, address, fields, notes } = reference;
  const lines = [
    `### ${id}`,
    '',
    `${name}${aliases.length > 0 ? `, also as ${listed(aliases)}` : ''}. ${addressLine(address)} ${credentialLine(reference)} ${offerLine(reference)}`,
    '',
  ];
  const settings = settingsOf(id, fields);
  if (settings.length > 0) lines.push('| setting | required | meaning |', '| --- | --- | --- |', ...settings, '');
  if (notes.length > 0) lines.push(...notes.map((note) => `- ${note}`), '');
  return lines.join('\n');
}

/** What saving asks for, from the very rules that it follows, then what else there is. */
function settingsOf(id: string, fields: readonly ProviderField[]): string[] {
  const rules = new Map(settingRules(id).map((rule) => [rule.name, rule]));
  const told = new Map(fields.map(({ name, about }) => [name, about]));
  return [...new Set([...told.keys(), ...rules.keys()])].map((name) => {
    const rule = rules.get(name);
    const about = told.get(name) ?? rule?.about ?? '';
    const values = rule?.values ? ` One of ${listed(rule.values)}.` : '';
    return `| \`${name}\` | ${rule ? neededWhen(rule.required) : ''} | ${escaped(about)}${values} |`;
  });
}

function neededWhen(required: SettingRule['required']): string {
  if (required === 'always') return 'yes';
  if (required === 'no') return '';
  return 'orElse' in required
    ? `yes, or ${listed(required.orElse)}`
    : `with \`${required.with}\` ${listed(required.values)}`;
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const addressLine = (address: string | null): string =>
  address === null ? 'Its address is given with the target.' : `Address: \`${address}\`.`;

function credentialLine({ credential, needsCredential }: ProviderReference): string {
  if (!credential) return 'Its settings hold what it needs to be called.';
  const { header, value } = credential;
  const way = value.startsWith('Bearer ') ? 'a bearer token' : `\`${header}: ${value}\``;
  return needsCredential ? `The credential travels as ${way}.` : `A credential, where there is one, travels as ${way}.`;
}

export function providersPage(providers: readonly Provider[] = allProviders): string {
  const all = providers.map(referenceOf).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return `${[opening, overview(all), '## One by one\n', ...all.map(section)].join('\n').trimEnd()}\n`;
}

if (import.meta.main) await Bun.write(pagePath, providersPage());
