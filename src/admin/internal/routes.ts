/** What parts of the service ask each other, with a token of the installation instead of a credential of an organisation. */
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { invalid, noSuchRoute, notFound, unauthenticated } from '../../http/errors.ts';
import { jwtHeaderOf, longestToken } from '../../identity/jwt/claims.ts';
import { digestOf } from '../../identity/secrets.ts';
import { type OrganisationSettings, settingsInForce } from '../../identity/settings.ts';
import { entityLimits } from '../../limits/entity-limits.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { type KeyReader, keyRecordOf } from '../api-keys/record.ts';
import { keyRecord } from '../api-keys/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { limitUsageRecord, usageOf } from '../limit-usage/record.ts';
import { asRecord } from '../workspaces/record.ts';
import { workspaceRecord } from '../workspaces/schema.ts';
import { type CredentialDetails, tokenDetails } from './token-details.ts';

const header = 'x-gw-client-auth';

/** Both sides as digests, so that the comparison takes the same time for every guess. */
function requireServiceToken({ settings }: Services, headers: Headers): void {
  if (settings.clientAuth === null) throw noSuchRoute('This route needs GW_CLIENT_AUTH, which is not set');
  const sent = Buffer.from(digestOf(headers.get(header) ?? ''));
  if (!timingSafeEqual(sent, Buffer.from(digestOf(settings.clientAuth)))) {
    throw unauthenticated(`Send the installation's service token in the header ${header}`);
  }
}

/** What of an organisation's settings counts for a call. */
const callSettings = ({ session_settings: _, security_settings: __, ...settings }: OrganisationSettings) => settings;

const keyDetails = endpoint({
  method: 'POST',
  path: '/internal/api-keys/details',
  tag: 'Service',
  summary: 'Read all that a gateway must know about an API key or a JWT',
  description:
    'For parts of the service, with the token of `GW_CLIENT_AUTH` in the header `x-gw-client-auth`. Send the key itself or the SHA-256 of it in hex. A JWT is sent itself; its record is made from its claims.',
  access: 'open',
  audit: 'none',
  atomic: false,
  body: () =>
    z.object({
      key: z.string().min(1).max(longestToken).optional(),
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .meta({ examples: ['0'.repeat(64)] })
        .optional(),
    }),
  reply: () =>
    z.object({
      object: z.literal('api-key-details'),
      api_key: keyRecord(),
      hashes: z.array(z.string()).describe('SHA-256 of every secret of the key that counts'),
      limits: z.array(limitUsageRecord()).describe('All limits of the key, with what is used of them'),
      organisation: z.object({
        id: z.string(),
        settings: z.record(z.string(), z.unknown()),
        defaults: z.object({ input_guardrails: z.array(z.string()), output_guardrails: z.array(z.string()) }),
      }),
      workspace: workspaceRecord()
        .extend({
          settings: z.record(z.string(), z.unknown()).describe('In force in this workspace'),
          excluded_guardrails: z
            .array(z.enum(['input', 'output']))
            .describe("Directions in which the organisation's default guardrails leave it alone"),
        })
        .nullable(),
      user: z.object({ id: z.string(), name: z.string(), email: z.string() }).nullable(),
    }),
  async handle({ body, services, exchange, now }) {
    requireServiceToken(services, exchange.headers);
    if ((body.key === undefined) === (body.hash === undefined))
      throw invalid('key', 'send exactly one of key and hash');
    const { db } = services.store;
    const found =
      body.key !== undefined && jwtHeaderOf(body.key)
        ? await tokenDetails(services, body.key)
        : await keyDetailsOf({ db, now, services }, body.hash ?? digestOf(body.key ?? ''));
    const organisation = await db
      .selectFrom('organisations')
      .selectAll()
      .where('id', '=', found.record.organisation_id)
      .executeTakeFirstOrThrow();
    const settings = decode(organisation.settings);
    const layer = { settings, overrides: decode(organisation.workspace_overrides) };
    return {
      object: 'api-key-details' as const,
      api_key: found.record,
      hashes: found.hashes,
      limits: await usageOf(services, found.limits),
      organisation: {
        id: organisation.id,
        settings: callSettings(settings),
        defaults: decode(organisation.defaults),
      },
      workspace:
        found.record.workspace_id === null ? null : await workspaceDetails(db, found.record.workspace_id, layer),
      user: found.record.user_id === null ? null : await userDetails(db, found.record.user_id),
    };
  },
});

async function keyDetailsOf(reader: KeyReader, digest: string): Promise<CredentialDetails> {
  const { db, now } = reader;
  const found = await findKey(db, digest, now);
  if (!found) throw notFound('API key');
  const record = await keyRecordOf(reader, found.id);
  const { organisation_id: organisationId, id: entityId, name, rate_limits } = record;
  const carrier = { organisationId, scope: 'api_key' as const, entityId, name };
  // The shown form of a usage limit leaves out when its period began.
  const { usage_limits: stored } = await db
    .selectFrom('api_keys')
    .select('usage_limits')
    .where('id', '=', entityId)
    .executeTakeFirstOrThrow();
  const limits = entityLimits(carrier, rate_limits, stored === null ? [] : [decode(stored)]);
  return { record, hashes: await liveHashes(db, found.id, now), limits };
}

async function findKey(db: Db, digest: string, now: Date) {
  return db
    .selectFrom('api_key_secrets as secret')
    .innerJoin('api_keys as key', 'key.id', 'secret.api_key_id')
    .innerJoin('organisations as organisation', 'organisation.id', 'key.organisation_id')
    .select('key.id')
    .where('secret.digest', '=', digest)
    .where('secret.status', '=', 'ACTIVE')
    .where((eb) =>
      eb.or([
        eb('secret.transition_expires_at', 'is', null),
        eb('secret.transition_expires_at', '>', now.toISOString()),
      ]),
    )
    .where('key.status', '!=', 'archived')
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
}

async function liveHashes(db: Db, keyId: string, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('api_key_secrets')
    .select(['digest', 'transition_expires_at'])
    .where('api_key_id', '=', keyId)
    .where('status', '=', 'ACTIVE')
    .orderBy('created_at', 'desc')
    .execute();
  const at = now.toISOString();
  return rows.filter(({ transition_expires_at: end }) => end === null || end > at).map(({ digest }) => digest);
}

async function workspaceDetails(db: Db, id: string, layer: Parameters<typeof settingsInForce>[0]) {
  const row = await db.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const exclusions = await db
    .selectFrom('guardrail_exclusions')
    .select('direction')
    .where('workspace_id', '=', id)
    .execute();
  return {
    ...asRecord(row, 'plain'),
    settings: callSettings(settingsInForce(layer, decode(row.settings))),
    excluded_guardrails: exclusions.map(({ direction }) => direction),
  };
}

async function userDetails(db: Db, id: string) {
  const { first_name, last_name, email } = await db
    .selectFrom('users')
    .select(['first_name', 'last_name', 'email'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { id, name: `${first_name} ${last_name}`.trim(), email };
}

export const internalResource: Resource = { name: 'internal', endpoints: [keyDetails] };
