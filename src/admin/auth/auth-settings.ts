/** The organisation's rules for signing in. Single sign-on, JWT and SCIM will have their sections here. */
import { z } from 'zod';
import { invalid } from '../../http/errors.ts';
import { type OrganisationSettings, organisationSettingsUpdate } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import { endpoint } from '../kernel/endpoint.ts';

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
      scim: laterSection('this version has no SCIM'),
    })
    .refine((body) => body.login_method !== undefined || body.session_settings !== undefined, {
      message: 'Send login_method, session_settings or both',
    });

const asReply = ({ session_settings }: OrganisationSettings) => ({
  object: 'auth_settings' as const,
  login_method: 'any' as const,
  session_settings,
});

export const readAuthSettings = endpoint({
  method: 'GET',
  path,
  tag: 'Sign-in',
  summary: 'Read the organisation’s rules for signing in',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.read', level: 'organisation' },
  reply,
  handle: async ({ caller, db }) => asReply(await settingsOf(db, caller.organisationId)),
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
  async handle({ caller, body, db, now, changed, note }) {
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
    changed({ topic: 'organisation', id: organisationId });
    note({
      resourceId: organisationId,
      details: {
        max_session_ttl: { old: before.session_settings.max_session_ttl, new: after.session_settings.max_session_ttl },
      },
    });
    return asReply(after);
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
