/** Guardrails of Amazon Bedrock. */
import { z } from 'zod';
import { listOf, objectOf, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { HttpError, isOk, jsonOf } from '../ask.ts';
import { both } from '../checks/events.ts';
import type { AwsSigning } from '../io.ts';
import { type Asking, eachSegment, editsOf, partnerCheck, verdictOf, withoutSlash } from './partner.ts';

const optional = () => z.string().max(4_096).optional();

export const bedrockGuard = partnerCheck({
  id: 'bedrock.guard',
  title: 'Bedrock guardrail',
  description: 'Asks a guardrail of Amazon Bedrock about each text.',
  events: both,
  transforms: true,
  credentials: () => ({
    awsAuthType: z.enum(['accessKey', 'assumedRole']).default('accessKey'),
    awsAccessKeyId: optional(),
    awsSecretAccessKey: optional(),
    awsSessionToken: optional(),
    awsRegion: optional(),
    awsRoleArn: optional(),
    awsExternalId: optional(),
    accessKeyId: optional(),
    accessKeySecret: optional(),
    region: optional(),
    customHost: optional(),
  }),
  parameters: () => ({
    guardrailId: z.string().min(1).max(255),
    guardrailVersion: z.string().min(1).max(32),
    redact: z.boolean().default(false),
  }),
  example: { guardrailId: 'abcdefgh', guardrailVersion: 'DRAFT', redact: true },
  onError: true,
  async run(asking, { guardrailId, guardrailVersion, redact }, credentials) {
    const region = credentials.awsRegion ?? credentials.region;
    if (!region) throw new Error('the credentials name no region');
    const sign = await signingOf(asking, credentials, region);
    const host = credentials.customHost
      ? withoutSlash(credentials.customHost)
      : `https://bedrock-runtime.${region}.amazonaws.com`;
    const url = `${host}/guardrail/${encodeURIComponent(guardrailId)}/version/${encodeURIComponent(guardrailVersion)}/apply`;
    const source = asking.context.isInput ? 'INPUT' : 'OUTPUT';
    const answers = await eachSegment(asking, (text) =>
      apply(asking, url, sign, { source, content: [{ text: { text } }] }),
    );
    const texts: (string | null)[] = asking.context.segments.map(() => null);
    let verdict = true;
    for (const { segment, text, answer } of answers) {
      if (answer.action !== 'GUARDRAIL_INTERVENED') continue;
      const assessments = objectsOf(answer.assessments);
      if (redact && assessments.every(hasOnlyPii)) texts[segment] = redactedText(text, answer, assessments);
      else verdict = false;
    }
    return {
      ...verdictOf(verdict, 'Bedrock', { assessments: answers.flatMap(({ answer }) => listOf(answer.assessments)) }),
      edits: editsOf(asking, texts),
    };
  },
});

const policies = ['topicPolicy', 'contentPolicy', 'wordPolicy', 'contextualGroundingPolicy'] as const;

/** Nothing but personal data was found. */
const hasOnlyPii = (assessment: JsonObject): boolean =>
  policies.every((name) =>
    Object.values(objectOf(assessment[name])).every((entries) =>
      objectsOf(entries).every(({ action }) => action === 'NONE'),
    ),
  );

function redactedText(text: string, answer: JsonObject, assessments: readonly JsonObject[]): string {
  const entities = assessments.flatMap((assessment) =>
    objectsOf(objectOf(assessment.sensitiveInformationPolicy).piiEntities),
  );
  const patterns = assessments.flatMap((assessment) =>
    objectsOf(objectOf(assessment.sensitiveInformationPolicy).regexes),
  );
  const masked = objectsOf(answer.outputs ?? answer.output)[0]?.text;
  if ([...entities, ...patterns].some(({ action }) => action === 'ANONYMIZED') && typeof masked === 'string')
    return masked;
  const marks = [
    ...entities.map(({ match, type }) => [match, type]),
    ...patterns.map(({ match, name }) => [match, name]),
  ];
  return marks.reduce(
    (changed, [match, mark]) =>
      typeof match === 'string' && match !== '' ? changed.replaceAll(match, `{${String(mark)}}`) : changed,
    text,
  );
}

async function apply({ io, timeoutMs }: Asking, url: string, sign: AwsSigning, json: object): Promise<JsonObject> {
  const answer = await io.call({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
    timeoutMs,
    sign,
  });
  const value = jsonOf(answer);
  if (!isOk(answer)) throw new HttpError(answer.status, value);
  return objectOf(value);
}

interface Keys {
  awsAuthType: 'accessKey' | 'assumedRole';
  awsAccessKeyId?: string | undefined;
  awsSecretAccessKey?: string | undefined;
  awsSessionToken?: string | undefined;
  awsRoleArn?: string | undefined;
  awsExternalId?: string | undefined;
  accessKeyId?: string | undefined;
  accessKeySecret?: string | undefined;
}

const roleKeptMs = 60_000;

/** With a role, its keys are asked for with those that are given, and kept for a minute. */
async function signingOf({ io, timeoutMs }: Asking, keys: Keys, region: string): Promise<AwsSigning> {
  const accessKeyId = keys.awsAccessKeyId ?? keys.accessKeyId;
  const secretAccessKey = keys.awsSecretAccessKey ?? keys.accessKeySecret;
  if (!accessKeyId || !secretAccessKey) throw new Error('the credentials have no access key');
  const own: AwsSigning = {
    service: 'bedrock',
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: keys.awsSessionToken ?? null,
  };
  if (keys.awsAuthType === 'accessKey') return own;
  if (!keys.awsRoleArn) throw new Error('the credentials name no role');
  const askedWith = [
    keys.awsRoleArn,
    accessKeyId,
    secretAccessKey,
    keys.awsSessionToken ?? '',
    keys.awsExternalId ?? '',
  ];
  const key = `aws role ${Bun.CryptoHasher.hash('sha256', JSON.stringify(askedWith), 'hex')}`;
  const known = z
    .object({ accessKeyId: z.string(), secretAccessKey: z.string(), sessionToken: z.string() })
    .safeParse(io.cache.get(key));
  if (known.success) return { ...own, ...known.data };
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: keys.awsRoleArn,
    RoleSessionName: 'gw-guardrail',
    ...(keys.awsExternalId && { ExternalId: keys.awsExternalId }),
  });
  const answer = await io.call({
    url: `https://sts.${region}.amazonaws.com/`,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
    timeoutMs,
    sign: { ...own, service: 'sts' },
  });
  const text = new TextDecoder().decode(answer.bytes);
  const field = (name: string): string => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? '';
  if (!isOk(answer) || field('AccessKeyId') === '') throw new HttpError(answer.status, null);
  const assumed = {
    accessKeyId: field('AccessKeyId'),
    secretAccessKey: field('SecretAccessKey'),
    sessionToken: field('SessionToken'),
  };
  io.cache.put(key, assumed, roleKeptMs);
  return { ...own, ...assumed };
}
