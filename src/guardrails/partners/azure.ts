/** Azure: content safety, prompt shields, protected material and personal data. */
import { z } from 'zod';
import { listOf, objectOf, objectsOf } from '../../providers/json.ts';
import { HttpError, isOk, jsonOf } from '../ask.ts';
import { after, before, both } from '../checks/events.ts';
import {
  type Asking,
  batchesOf,
  editsOf,
  messagesOf,
  partnerCheck,
  piecesOf,
  textsOf,
  verdictOf,
  withoutSlash,
} from './partner.ts';

const resource = () =>
  z.looseObject({
    resourceName: z.string().max(255).optional(),
    azureAuthMode: z.enum(['apiKey', 'entra', 'managed']).default('apiKey'),
    apiKey: z.string().max(4_096).optional(),
    clientId: z.string().max(255).optional(),
    clientSecret: z.string().max(4_096).optional(),
    tenantId: z.string().max(255).optional(),
    customHost: z.string().max(2_048).optional(),
  });

type Resource = z.output<ReturnType<typeof resource>>;

const hostOf = ({ customHost, resourceName }: Resource): string => {
  if (customHost) return withoutSlash(customHost);
  if (!resourceName) throw new Error('the credentials name no resource');
  return `https://${resourceName}.cognitiveservices.azure.com`;
};

const tokenKeptMs = 15 * 60_000;

async function headersFor(
  { io, timeoutMs }: Asking,
  { azureAuthMode, apiKey, clientId, clientSecret, tenantId }: Resource,
): Promise<Record<string, string>> {
  if (azureAuthMode === 'apiKey') {
    if (!apiKey) throw new Error('the credentials have no apiKey');
    return { 'Ocp-Apim-Subscription-Key': apiKey };
  }
  if (azureAuthMode === 'managed')
    throw new Error('the identity of the machine is not offered to guardrails; use entra');
  if (!clientId || !clientSecret || !tenantId) throw new Error('entra needs clientId, clientSecret and tenantId');
  const key = `azure token ${tenantId} ${clientId} ${new Bun.CryptoHasher('sha256').update(clientSecret).digest('hex')}`;
  const known = io.cache.get(key);
  if (typeof known === 'string') return { authorization: `Bearer ${known}` };
  const answer = await io.call({
    url: `https://login.microsoftonline.com/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: 'https://cognitiveservices.azure.com/.default',
    }).toString(),
    timeoutMs,
  });
  const token = objectOf(jsonOf(answer)).access_token;
  if (!isOk(answer) || typeof token !== 'string') throw new HttpError(answer.status, null);
  io.cache.put(key, token, tokenKeptMs);
  return { authorization: `Bearer ${token}` };
}

/** Longer texts are refused. */
const longestText = 10_000;
const pieceOverlap = 200;
/** Of one request for prompt shields; their texts together may be as long as one prompt. */
const shieldedDocuments = 2;
/** A longer document is left out of an answer that is otherwise a success. */
const longestDocument = 5_000;
const mostDocuments = 5;

const safety = () => ({ contentSafety: resource() });
const version = (date: string) => z.string().max(32).default(date);

async function askSafety(asking: Asking, own: Resource, path: string, apiVersion: string, json: object) {
  const url = `${hostOf(own)}/contentsafety/${path}?api-version=${encodeURIComponent(apiVersion)}`;
  return asking.ask(url, json, await headersFor(asking, own));
}

export const azureContentSafety = partnerCheck({
  id: 'azure.contentSafety',
  title: 'Azure content safety',
  description: 'Fails when a category reaches the severity, or a blocklist matches.',
  events: both,
  credentials: safety,
  parameters: () => ({
    blocklistNames: z.array(z.string().max(255)).max(50).default([]),
    severity: z.number().min(0).max(8).default(2),
    categories: z
      .array(z.enum(['Hate', 'SelfHarm', 'Sexual', 'Violence']))
      .max(4)
      .default(['Hate', 'SelfHarm', 'Sexual', 'Violence']),
    apiVersion: version('2024-11-01'),
  }),
  example: { severity: 4, categories: ['Hate', 'Violence'] },
  answersWith: ['categoriesAnalysis', 'blocklistsMatch'],
  onError: true,
  async run(asking, { blocklistNames, severity, categories, apiVersion }, { contentSafety }) {
    const answers = await Promise.all(
      piecesOf(asking.text, longestText, pieceOverlap).map((text) =>
        askSafety(asking, contentSafety, 'text:analyze', apiVersion, { text, categories, blocklistNames }),
      ),
    );
    const analysed = answers.flatMap(({ categoriesAnalysis }) => objectsOf(categoriesAnalysis));
    const severe = analysed.filter((entry) => Number(entry.severity ?? 0) >= severity);
    const blocked = answers.flatMap(({ blocklistsMatch }) => listOf(blocklistsMatch));
    return verdictOf(severe.length + blocked.length === 0, 'Azure', {
      categoriesAnalysis: analysed,
      blocklistsMatch: blocked,
    });
  },
});

export const azureShieldPrompt = partnerCheck({
  id: 'azure.shieldPrompt',
  title: 'Azure prompt shield',
  description: 'Fails when the prompt, or a document in it, attacks the model.',
  events: before,
  credentials: safety,
  parameters: () => ({ apiVersion: version('2024-09-01') }),
  example: {},
  answersWith: ['userPromptAnalysis', 'documentsAnalysis'],
  onError: true,
  async run(asking, { apiVersion }, { contentSafety }) {
    const system = messagesOf(asking)
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => content)
      .join('\n');
    const prompts = piecesOf(system === '' ? asking.text : system, longestText, pieceOverlap);
    const texts = system === '' ? [] : textsOf(asking).filter((text) => text !== '');
    const documents = batchesOf(
      texts.flatMap((text) => piecesOf(text, longestText / shieldedDocuments, pieceOverlap)),
      shieldedDocuments,
    );
    const rounds = Math.max(prompts.length, documents.length);
    const answers = await Promise.all(
      Array.from({ length: rounds }, (_, at) =>
        askSafety(asking, contentSafety, 'text:shieldPrompt', apiVersion, {
          userPrompt: prompts[at] ?? prompts[0],
          documents: documents[at] ?? [],
        }),
      ),
    );
    const ofPrompts = answers.flatMap(({ userPromptAnalysis }) => userPromptAnalysis ?? []).map(objectOf);
    const ofDocuments = answers.flatMap(({ documentsAnalysis }) => objectsOf(documentsAnalysis));
    const attacked = [...ofPrompts, ...ofDocuments].some(({ attackDetected }) => attackDetected === true);
    return verdictOf(!attacked, 'Azure', {
      userPromptAnalysis: ofPrompts.find(({ attackDetected }) => attackDetected === true) ?? ofPrompts[0] ?? null,
      documentsAnalysis: ofDocuments,
    });
  },
});

export const azureProtectedMaterial = partnerCheck({
  id: 'azure.protectedMaterial',
  title: 'Azure protected material',
  description: 'Fails when the answer repeats protected material.',
  events: after,
  credentials: safety,
  parameters: () => ({ apiVersion: version('2024-09-01') }),
  example: {},
  answersWith: ['protectedMaterialAnalysis'],
  onError: true,
  async run(asking, { apiVersion }, { contentSafety }) {
    const answer = await askSafety(asking, contentSafety, 'text:detectProtectedMaterial', apiVersion, {
      text: asking.text,
    });
    return verdictOf(objectOf(answer.protectedMaterialAnalysis).detected !== true, 'Azure', {
      protectedMaterialAnalysis: answer.protectedMaterialAnalysis ?? null,
    });
  },
});

export const azurePii = partnerCheck({
  id: 'azure.pii',
  title: 'Azure PII',
  description: 'Fails when the text holds personal data, or replaces it.',
  events: both,
  transforms: true,
  credentials: () => ({ pii: resource() }),
  parameters: () => ({
    domain: z.enum(['none', 'phi', 'healthcare']).default('none'),
    modelVersion: z.string().max(64).default('latest'),
    apiVersion: version('2024-11-01'),
    language: z.string().max(16).default('en'),
    piiCategories: z.array(z.string().max(64)).max(100).optional(),
    redact: z.boolean().default(false),
  }),
  example: { redact: true },
  onError: true,
  async run(asking, { domain, modelVersion, apiVersion, language, piiCategories, redact }, { pii }) {
    const pieces = textsOf(asking).map((text) => (text === '' ? [] : piecesOf(text, longestDocument)));
    const documents = pieces.flatMap((list, segment) =>
      list.map((text, piece) => ({ id: `${segment}-${piece}`, text, language })),
    );
    const headers = await headersFor(asking, pii);
    const ask = (batch: typeof documents) =>
      asking.ask(
        `${hostOf(pii)}/language/:analyze-text?api-version=${encodeURIComponent(apiVersion)}`,
        {
          kind: 'PiiEntityRecognition',
          parameters: {
            domain: domain === 'healthcare' ? 'phi' : domain,
            modelVersion,
            ...(piiCategories && { piiCategories }),
          },
          analysisInput: { documents: batch },
        },
        headers,
      );
    const answers = await Promise.all(batchesOf(documents, mostDocuments).map(ask));
    const results = answers.flatMap((answer) => objectsOf(objectOf(answer.results).documents));
    // A document that the service leaves out is no document without personal data.
    if (results.length < documents.length) throw new Error('the service did not look at all of the text');
    const found = results.some(({ entities }) => listOf(entities).length > 0);
    const told = new Map(results.map(({ id, redactedText }) => [id, redactedText]));
    const redacted = pieces.map((list, segment) =>
      list.length === 0 ? null : list.map((text, piece) => told.get(`${segment}-${piece}`) ?? text).join(''),
    );
    return {
      ...verdictOf(!found || redact, 'Azure', {
        entities: results.flatMap(({ entities }) => objectsOf(entities).map(({ category }) => category)),
      }),
      ...(found && redact && { edits: editsOf(asking, redacted) }),
    };
  },
});
