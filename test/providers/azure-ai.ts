/** A resource of Azure AI Foundry: many vendors' models behind one address, Claude's API beside them, files and batches of the resource. */
import { answers as claudeAnswers, type Scripted } from './anthropic-api.ts';
import { completion, wholeStream } from './openai.ts';
import * as api from './openai-api.ts';
import { type Behaviour, json, type ReceivedCall, stream } from './simulated.ts';

const verdict = { hate: { filtered: false, severity: 'safe' } };

const chat: Behaviour = (call, response) => {
  if (call.json.stream) return stream(wholeStream(['Hello', ' there.']))(call, response);
  const answer = completion('Hello there.', call.json.model);
  const choices = answer.choices.map((choice) => ({ ...choice, content_filter_results: verdict }));
  return json(200, { ...answer, choices, prompt_filter_results: [] })(call, response);
};

const routes: Record<string, Behaviour | undefined> = {
  'POST /models/chat/completions': chat,
  'POST /models/embeddings': (call, response) => api.openAiApi({ ...call, path: '/embeddings' }, response),
  'POST /models/images/embeddings': json(200, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: api.vector }],
    model: 'embed-v-4-0',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  }),
  'POST /openai/deployments/gpt-image-1/images/generations': json(200, { data: [{ b64_json: 'aGk=' }] }),
  'POST /providers/cohere/v2/rerank': json(200, {
    id: 'r-1',
    results: [
      { index: 0, relevance_score: 0.2 },
      { index: 1, relevance_score: 0.9 },
    ],
    meta: { billed_units: { search_units: 1 } },
  }),
  'POST /models/ocr': json(200, { pages: [{ index: 0, markdown: '# Title' }], usage_info: { pages_processed: 1 } }),
  'POST /api/projects/p/openai/v1/chat/completions': chat,
  'POST /score': chat,
  'GET /openai/files/file-1': json(200, api.file),
};

/** Only some paths know versions; the others refuse none. */
const needsVersion = /^\/(models|openai)\//;

const denied: Behaviour = json(401, {
  error: { code: '401', message: 'Access denied due to invalid subscription key.' },
});

const isKnown = ({ headers }: ReceivedCall, key: string): boolean =>
  headers['api-key'] === key || headers.authorization === `Bearer ${key}` || headers['x-api-key'] === key;

export const azureAi =
  (key: string, claude: Scripted): Behaviour =>
  (call, response) => {
    const { pathname, searchParams } = new URL(call.path, 'http://resource.invalid');
    if (!isKnown(call, key)) return denied(call, response);
    if (pathname.startsWith('/anthropic/v1/')) {
      return claudeAnswers(claude)({ ...call, path: pathname.slice('/anthropic'.length) }, response);
    }
    const unknown: Behaviour = json(404, { error: { code: '404', message: 'Resource not found' } });
    if (needsVersion.test(pathname) && !searchParams.get('api-version')) return unknown(call, response);
    return (routes[`${call.method} ${pathname}`] ?? unknown)(call, response);
  };
