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
import { SsoRefused } from '../../identity/sso/flows.ts';
import { ssoSecretsPurpose } from '../../identity/sso/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { AuthSettingsTable } from '../../store/tables/company-sign-in.ts';
import type { Vault } from '../../store/vault.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import {
  asScimReply,
  type ScimSettings,
  scimDetails,
  scimReply,
  scimSettingsOf,
  scimUpdate,
  updateScimSettings,
} from '../scim/settings.ts';
import { isOtherProvider, isOtherSetUp } from '../sso/same-provider.ts';
import { asSsoReply, type ChangedSso, changedSso, secretsOf, ssoInput, ssoReply, toldSso } from '../sso/section.ts';
import { keepAWayIn } from './last-way-in.ts';
import { requireMayVouch } from './vouching.ts';

const path = '/admin/organisation/auth-settings';

const reply = lazy(() =>
  z.object({
    object: z.literal('auth_settings'),
    login_method: z
      .enum(['any', 'sso_only'])
      .describe(
        '`sso_only` counts once somebody has signed in with the present set-up; owners may always use passwords',
      ),
    sso: ssoReply().nullable(),
    disable_auto_provision_user: z.boolean().describe('True: only invited people may sign in by single sign-on'),
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

const update = () =>
  z
    .object({
      login_method: z.enum(['any', 'sso_only']).optional(),
      session_settings: organisationSettingsUpdate().shape.session_settings,
      sso: ssoInput().nullish().describe('Null removes the section'),
      disable_auto_provision_user: z.boolean().optional(),
      jwt: jwtSettingsInput().nullish().describe('Null removes the section'),
      scim: scimUpdate().optional(),
    })
    .refine((body) => Object.values(body).some((section) => section !== undefined), {
      message: 'Send login_method, session_settings, sso, disable_auto_provision_user, jwt or scim',
    });

const asReply = (
  { session_settings }: OrganisationSettings,
  auth: AuthSettingsTable,
  scim: ScimSettings,
  place: { origin: string; organisationId: string; vault: Vault },
) => ({
  object: 'auth_settings' as const,
  login_method: auth.login_method,
  session_settings,
  sso: asSsoReply(auth, secretsOf(auth, place.vault), place.origin),
  disable_auto_provision_user: auth.disable_auto_provision_user === 1,
  jwt: auth.jwt === null ? null : decode(auth.jwt),
  scim: asScimReply(scim, place.origin, place.organisationId),
});

export const readAuthSettings = endpoint({
  method: 'GET',
  path,
  tag: 'Sign-in',
  summary: 'Read the organisation’s rules for signing in',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.read', level: 'organisation' },
  reply,
  async handle({ caller: { organisationId }, db, services: { vault }, exchange: { origin } }) {
    const scim = await scimSettingsOf(db, organisationId);
    const auth = await findAuthSettings(db, organisationId);
    return asReply(await settingsOf(db, organisationId), auth, scim, { origin, organisationId, vault });
  },
});

export const changeAuthSettings = endpoint({
  method: 'PUT',
  path,
  tag: 'Sign-in',
  summary: 'Change the organisation’s rules for signing in',
  description:
    'Lowering `max_session_ttl` ends the sessions that are already older than it. ' +
    'A change of `jwt` makes every token be checked anew. ' +
    'The issuer of `sso` must answer; passwords are refused under `sso_only` once somebody has signed in with the set-up.',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: update,
  reply,
  atomic: false,
  async handle(call) {
    const { caller, body, now, services, commit } = call;
    if (body.sso || body.jwt) await requireMayVouch(services.store.db, caller);
    await checkSso(call, await findAuthSettings(services.store.db, caller.organisationId));
    return commit(async (db) => {
      const { organisationId } = caller;
      const before = await settingsOf(db, organisationId);
      const stored = await findAuthSettings(db, organisationId);
      const after = { ...before, session_settings: body.session_settings ?? before.session_settings };
      await db
        .updateTable('organisations')
        .set({ settings: encode(after), last_updated_at: now.toISOString() })
        .where('id', '=', organisationId)
        .execute();
      const saved = await authAfter({ ...call, db }, stored);
      await saveAuthSettings(db, now, saved);
      const scim = await updateScimSettings(db, now, organisationId, body.scim ?? {});
      call.changed({ topic: 'organisation', id: organisationId });
      call.note({
        resourceId: organisationId,
        details: {
          ...(body.session_settings && {
            max_session_ttl: {
              old: before.session_settings.max_session_ttl,
              new: after.session_settings.max_session_ttl,
            },
          }),
          ...toldChanges(body, stored, saved),
          ...(body.scim && { scim: { old: scimDetails(scim.before), new: scimDetails(scim.after) } }),
        },
      });
      const place = { origin: call.exchange.origin, organisationId, vault: services.vault };
      return asReply(after, saved, scim.after, place);
    });
  },
});

type Body = z.output<ReturnType<typeof update>>;
type Change = Pick<Call<unknown, unknown, Body>, 'caller' | 'body' | 'db' | 'services'>;

const setUpOf = (row: AuthSettingsTable, vault: Vault): ChangedSso | null =>
  row.sso === null ? null : { settings: decode(row.sso), secrets: secretsOf(row, vault) };

/** Asks the identity provider whether the set-up can work; slow, so it runs outside the transaction. */
async function checkSso({ caller, body, services }: Change, stored: AuthSettingsTable): Promise<void> {
  if (!body.sso) return;
  const { store, vault, sso, settings } = services;
  const after = await changedSso(store.db, caller, setUpOf(stored, vault), body.sso, settings.trustedHosts);
  try {
    await sso.check(after, caller.organisationId);
  } catch (fault) {
    if (!(fault instanceof SsoRefused)) throw fault;
    throw invalid(after.settings.type === 'oidc' ? 'sso.oidc.issuer_url' : 'sso.saml.metadata_url', fault.message);
  }
}

async function authAfter(
  { caller, body, db, services }: Change,
  stored: AuthSettingsTable,
): Promise<AuthSettingsTable> {
  const { vault, settings } = services;
  const jwt = jwtAfter(stored.jwt === null ? null : decode(stored.jwt), body.jwt, settings.trustedHosts);
  const before = setUpOf(stored, vault);
  const sso =
    body.sso === undefined
      ? before
      : body.sso === null
        ? null
        : await changedSso(db, caller, before, body.sso, settings.trustedHosts);
  const login_method = body.login_method ?? stored.login_method;
  if (login_method === 'sso_only' && sso === null) {
    throw invalid('login_method', 'sso_only needs a working single sign-on: it would be the only way in');
  }
  // Another provider that nobody has used yet may be wrong, so that it is no way in.
  const isOther = sso !== null && (await isOtherProvider(before, sso));
  if (before !== null && (sso === null || (isOther && stored.sso_proven_at !== null))) {
    await keepAWayIn(db, caller.organisationId, 'sso', 'is the last way in');
  }
  return {
    ...stored,
    login_method,
    disable_auto_provision_user: (body.disable_auto_provision_user ?? stored.disable_auto_provision_user === 1) ? 1 : 0,
    jwt: jwt && encode(jwt),
    sso: sso && encode(sso.settings),
    sso_client_id: sso?.settings.oidc?.client_id ?? null,
    sso_secrets_sealed: sso && vault.seal(JSON.stringify(sso.secrets), ssoSecretsPurpose),
    sso_verified_at: sso && !(await isOtherSetUp(before, sso)) ? stored.sso_verified_at : null,
    sso_proven_at: sso && !isOther ? stored.sso_proven_at : null,
  };
}

function toldChanges(body: Body, before: AuthSettingsTable, after: AuthSettingsTable) {
  const pair = <T>(of: (row: AuthSettingsTable) => T) => ({ old: of(before), new: of(after) });
  return {
    ...(before.login_method !== after.login_method && { login_method: pair((row) => row.login_method) }),
    ...(body.disable_auto_provision_user !== undefined && {
      disable_auto_provision_user: pair((row) => row.disable_auto_provision_user === 1),
    }),
    ...(body.sso !== undefined && { sso: pair((row) => toldSso(row.sso === null ? null : decode(row.sso))) }),
    ...(body.jwt !== undefined && { jwt: pair((row) => told(row.jwt === null ? null : decode(row.jwt))) }),
  };
}

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
