/** The organisation's rules for signing in: methods, sessions, the tokens that it issues itself, and provisioning. */
import { z } from 'zod';
import type { TrustedHosts } from '../../http/custom-host.ts';
import { invalid } from '../../http/errors.ts';
import { findAuthSettings, saveAuthSettings } from '../../identity/auth-settings.ts';
import {
  changedJwtSettings,
  faultOfJwtSettings,
  type JwtSettings,
  jwtSettingsInput,
  keySetSchema,
  noJwtSettings,
} from '../../identity/jwt/settings.ts';
import { type OrganisationSettings, organisationSettingsUpdate } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { AuthSettingsTable } from '../../store/tables/company-sign-in.ts';
import { endpoint } from '../kernel/endpoint.ts';
import {
  asScimReply,
  type ScimSettings,
  scimDetails,
  scimReply,
  scimSettingsOf,
  scimUpdate,
  updateScimSettings,
} from '../scim/settings.ts';

const path = '/admin/organisation/auth-settings';

const reply = lazy(() =>
  z.object({
    object: z.literal('auth_settings'),
    login_method: z.literal('any'),
    session_settings: z.object({
      max_session_ttl: z
        .number()
        .nullable()
        .describe('Seconds after which everyone signs in again; null: no such limit'),
    }),
    jwt: z
      .object({
        enabled: z.boolean(),
        jwks_url: z.string().nullable(),
        jwks_json: keySetSchema().nullable(),
        issuer: z.string().nullable(),
        audience: z.string().nullable(),
      })
      .nullable()
      .describe('Tokens of the organisation’s own issuer; null: it has none'),
    scim: scimReply(),
  }),
);

const laterSection = (what: string) => z.never({ error: `is not available yet: ${what}` }).optional();

const update = () =>
  z
    .object({
      login_method: z.enum(['any', 'sso_only']).optional(),
      session_settings: organisationSettingsUpdate().shape.session_settings,
      sso: laterSection('this version has no single sign-on'),
      disable_auto_provision_user: laterSection('this version has no single sign-on'),
      jwt: jwtSettingsInput().nullish().describe('Null removes the section'),
      scim: scimUpdate().optional(),
    })
    .refine((body) => Object.values(body).some((section) => section !== undefined), {
      message: 'Send login_method, session_settings, jwt or scim',
    });

const asReply = (
  { session_settings }: OrganisationSettings,
  { jwt }: AuthSettingsTable,
  scim: ScimSettings,
  place: { origin: string; organisationId: string },
) => ({
  object: 'auth_settings' as const,
  login_method: 'any' as const,
  session_settings,
  jwt: jwt === null ? null : decode(jwt),
  scim: asScimReply(scim, place.origin, place.organisationId),
});

export const readAuthSettings = endpoint({
  method: 'GET',
  path,
  tag: 'Sign-in',
  summary: 'Read the organisation’s rules for signing in',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.read', level: 'organisation' },
  reply,
  async handle({ caller: { organisationId }, db, exchange: { origin } }) {
    const scim = await scimSettingsOf(db, organisationId);
    const auth = await findAuthSettings(db, organisationId);
    return asReply(await settingsOf(db, organisationId), auth, scim, { origin, organisationId });
  },
});

export const changeAuthSettings = endpoint({
  method: 'PUT',
  path,
  tag: 'Sign-in',
  summary: 'Change the organisation’s rules for signing in',
  description:
    'Lowering `max_session_ttl` ends the sessions that are already older than it. ' +
    'A change of `jwt` makes every token be checked anew.',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: update,
  reply,
  async handle({ caller, body, db, now, services, exchange: { origin }, changed, note }) {
    const { organisationId } = caller;
    if (body.login_method === 'sso_only') {
      throw invalid('login_method', 'sso_only needs a working single sign-on, which is not available yet');
    }
    const before = await settingsOf(db, organisationId);
    const stored = await findAuthSettings(db, organisationId);
    const jwtBefore = stored.jwt === null ? null : decode(stored.jwt);
    const jwt = jwtAfter(jwtBefore, body.jwt, services.settings.trustedHosts);
    const after = { ...before, session_settings: body.session_settings ?? before.session_settings };
    await db
      .updateTable('organisations')
      .set({ settings: encode(after), last_updated_at: now.toISOString() })
      .where('id', '=', organisationId)
      .execute();
    const saved = { ...stored, jwt: jwt && encode(jwt) };
    if (saved.jwt !== stored.jwt) await saveAuthSettings(db, now, saved);
    const scim = await updateScimSettings(db, now, organisationId, body.scim ?? {});
    changed({ topic: 'organisation', id: organisationId });
    note({
      resourceId: organisationId,
      details: {
        ...(body.session_settings && {
          max_session_ttl: {
            old: before.session_settings.max_session_ttl,
            new: after.session_settings.max_session_ttl,
          },
        }),
        ...(body.jwt !== undefined && { jwt: { old: told(jwtBefore), new: told(jwt) } }),
        ...(body.scim && { scim: { old: scimDetails(scim.before), new: scimDetails(scim.after) } }),
      },
    });
    return asReply(after, saved, scim.after, { origin, organisationId });
  },
});

function jwtAfter(
  before: JwtSettings | null,
  input: z.output<ReturnType<typeof jwtSettingsInput>> | null | undefined,
  trustedHosts: TrustedHosts,
): JwtSettings | null {
  if (input === undefined) return before;
  if (input === null) return null;
  const after = changedJwtSettings(before ?? noJwtSettings, input);
  const fault = faultOfJwtSettings(after, trustedHosts);
  if (fault) throw invalid(fault.path, fault.message);
  return after;
}

/** Of keys the audit trail names the ids. */
const told = (jwt: JwtSettings | null) =>
  jwt && { ...jwt, jwks_json: jwt.jwks_json?.keys.map(({ kid }) => kid ?? null) };

async function settingsOf(db: Db, organisationId: string): Promise<OrganisationSettings> {
  const row = await db
    .selectFrom('organisations')
    .select('settings')
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  return decode(row.settings);
}
