/** All checks, by id. To add one: a file, and a line here. */
import type { Check } from './check.ts';
import { addPrefix } from './checks/add-prefix.ts';
import { allowedRequestTypes } from './checks/allowed-request-types.ts';
import { contains } from './checks/contains.ts';
import { containsCode } from './checks/contains-code.ts';
import { characterCount, sentenceCount, wordCount } from './checks/counts.ts';
import { endsWith } from './checks/ends-with.ts';
import { gwGibberish } from './checks/gw-gibberish.ts';
import { gwLanguage } from './checks/gw-language.ts';
import { gwModerateContent } from './checks/gw-moderate.ts';
import { gwPii } from './checks/gw-pii.ts';
import { inlineImageUrls } from './checks/inline-image-urls.ts';
import { jsonKeys } from './checks/json-keys.ts';
import { jsonSchema } from './checks/json-schema.ts';
import { jwt } from './checks/jwt.ts';
import { allLowerCase, allUpperCase } from './checks/letters.ts';
import { log } from './checks/log.ts';
import { requiredMetadataKeyPairs, requiredMetadataKeys } from './checks/metadata.ts';
import { modelRules, modelWhitelist } from './checks/models.ts';
import { notNull } from './checks/not-null.ts';
import { regexMatch } from './checks/regex-match.ts';
import { regexReplace } from './checks/regex-replace.ts';
import { requestParametersCheck } from './checks/request-parameters.ts';
import { validUrls } from './checks/valid-urls.ts';
import { webhook } from './checks/webhook.ts';
import { partnerChecks } from './partners/index.ts';

export const checks: readonly Check[] = [
  regexMatch,
  regexReplace,
  sentenceCount,
  wordCount,
  characterCount,
  allUpperCase,
  allLowerCase,
  endsWith,
  contains,
  jsonSchema,
  jsonKeys,
  validUrls,
  containsCode,
  notNull,
  modelWhitelist,
  modelRules,
  requiredMetadataKeys,
  requiredMetadataKeyPairs,
  allowedRequestTypes,
  requestParametersCheck,
  jwt,
  addPrefix,
  inlineImageUrls,
  webhook,
  log,
  gwModerateContent,
  gwLanguage,
  gwPii,
  gwGibberish,
  ...partnerChecks,
];

const byId = new Map(checks.flatMap((check) => [check.id, ...check.aliases].map((id) => [id, check] as const)));

export const findCheck = (id: string): Check | null => byId.get(id) ?? null;
