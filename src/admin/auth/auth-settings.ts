/** The organisation's rules for signing in. Single sign-on and JWT will have their sections here. */
import { z } from 'zod';
import { invalid } from '../../http/errors.ts';
import { type OrganisationSettings, organisationSettingsUpdate } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
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
      jwt: laterSection('this version accepts no organisation JWT'),
      scim: scimUpdate().optional(),
    })
    .refine((body) => [body.login_method, body.session_settings, body.scim].some((section) => section !== undefined), {
      message: 'Send login_method, session_settings or scim',
    });

const asReply = (
  { session_settings }: OrganisationSettings,
  scim: ScimSettings,
  place: { origin: string; organisationId: string },
) => ({
  object: 'auth_settings' as const,
  login_method: 'any' as const,
  session_settings,
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
    return asReply(await settingsOf(db, organisationId), scim, { origin, organisationId });
  },
});

export const changeAuthSettings = endpoint({
  method: 'PUT',
  path,
  tag: 'Sign-in',
  summary: 'Change the organisation’s rules for signing in',
  description: 'Lowering `max_session_ttl` ends the sessions that are already older than it.',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: update,
  reply,
  async handle({ caller, body, db, now, exchange: { origin }, changed, note }) {
    const { organisationId } = caller;
    if (body.login_method === 'sso_only') {
      throw invalid('login_method', 'sso_only needs a working single sign-on, which is not available yet');
    }
    const before = await settingsOf(db, organisationId);
    const after = { ...before, session_settings: body.session_settings ?? before.session_settings };
    await db
      .updateTable('organisations')
      .set({ settings: encode(after), last_updated_at: now.toISOString() })
      .where('id', '=', organisationId)
      .execute();
    const scim = await updateScimSettings(db, now, organisationId, body.scim ?? {});
    changed({ topic: 'organisation', id: organisationId });
    note({
      resourceId: organisationId,
      details: {
        max_session_ttl: { old: before.session_settings.max_session_ttl, new: after.session_settings.max_session_ttl },
        ...(body.scim && { scim: { old: scimDetails(scim.before), new: scimDetails(scim.after) } }),
      },
    });
    return asReply(after, scim.after, { origin, organisationId });
  },
});

async function settingsOf(db: Db, organisationId: string): Promise<OrganisationSettings> {
  const row = await db
    .selectFrom('organisations')
    .select('settings')
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  return decode(row.settings);
}
