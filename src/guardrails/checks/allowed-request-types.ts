/** Which kinds of request may be made at all. The only check that also runs where no text can be checked. */

import { z } from 'zod';
import { readJson } from '../../bounded-json.ts';
import { type CheckResult, defineCheck, failedCheck, ParameterFault } from '../check.ts';
import type { CheckContext } from '../context.ts';
import { before } from './events.ts';

export const requestTypes = [
  'complete',
  'chatComplete',
  'embed',
  'rerank',
  'moderate',
  'messages',
  'stream-complete',
  'stream-chatComplete',
  'stream-messages',
  'proxy',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'realtime',
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
  'createBatch',
  'retrieveBatch',
  'cancelBatch',
  'listBatches',
  'getBatchOutput',
  'listFinetunes',
  'createFinetune',
  'retrieveFinetune',
  'cancelFinetune',
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
  'messagesCountTokens',
  'ocr',
  'listModels',
  'retrieveModel',
  'deleteModel',
  'otel',
  'mcpToolCall',
  'agent',
] as const;

const known: ReadonlySet<string> = new Set(requestTypes);

const typeList = (name: string) =>
  z
    .union([z.array(z.string().max(64)).max(100), z.string().max(4_096)])
    .optional()
    .transform((given) => listOf(given))
    .refine((types) => types.every((type) => known.has(type)), { message: `${name} names an unknown request type` });

const listOf = (given: string[] | string | undefined): string[] =>
  (typeof given === 'string' ? given.split(',') : (given ?? [])).map((type) => type.trim()).filter(Boolean);

export const allowedRequestTypes = defineCheck({
  id: 'default.allowedRequestTypes',
  title: 'Allowed request types',
  description: 'Passes when the kind of request is in the allow list and not in the block list. Runs on every route.',
  category: 'BASIC',
  events: before,
  parameters: () => ({ allowedTypes: typeList('allowedTypes'), blockedTypes: typeList('blockedTypes') }),
  example: { allowedTypes: ['chatComplete', 'messages', 'embed'] },
  prepare({ allowedTypes, blockedTypes }) {
    const overlap = allowedTypes.find((type) => blockedTypes.includes(type));
    if (overlap) throw new ParameterFault('blockedTypes', `${overlap} is allowed and blocked`);
    return { run: (context) => judge(context, allowedTypes, blockedTypes) };
  },
});

function judge(context: CheckContext, allowedTypes: readonly string[], blockedTypes: readonly string[]): CheckResult {
  const { metadata, isStream, requestType } = context.facts;
  if (requestType === '') return failedCheck('the kind of this request is not known');
  const allowed = allowedTypes.length > 0 ? allowedTypes : fromMetadata(metadata.supported_endpoints);
  const blocked = blockedTypes.length > 0 ? blockedTypes : fromMetadata(metadata.blocked_endpoints);
  const overlap = allowed.find((type) => blocked.includes(type));
  if (overlap) return failedCheck(`${overlap} is allowed and blocked`);
  // A stream is named by itself, and by what it is a stream of.
  const names = isStream ? [requestType, `stream-${requestType}`] : [requestType];
  const isAllowed = allowed.length === 0 || names.some((name) => allowed.includes(name));
  const isBlocked = names.some((name) => blocked.includes(name));
  const verdict = isAllowed && !isBlocked;
  return {
    verdict,
    data: {
      currentRequestType: requestType,
      allowedTypes: allowed,
      blockedTypes: blocked,
      verdict,
      source: sourceOf(allowedTypes.length + blockedTypes.length, allowed.length + blocked.length),
      mode: modeOf(allowed.length, blocked.length),
      explanation: `Requests of the type ${requestType} are ${verdict ? 'allowed' : 'not allowed'}.`,
    },
  };
}

function fromMetadata(value: string | undefined): string[] {
  if (!value) return [];
  if (!value.startsWith('[')) return listOf(value);
  const parsed = z.array(z.string()).safeParse(jsonOf(value));
  return parsed.success ? listOf(parsed.data) : [];
}

function jsonOf(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

const sourceOf = (configured: number, inForce: number): string =>
  configured > 0 ? 'parameters' : inForce > 0 ? 'metadata' : 'default';

const modeOf = (allowed: number, blocked: number): string => {
  if (allowed > 0 && blocked > 0) return 'combined';
  if (allowed > 0) return 'allowlist';
  return blocked > 0 ? 'blocklist' : 'unrestricted';
};
