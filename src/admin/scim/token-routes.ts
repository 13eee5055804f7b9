/** The token that the identity provider authenticates with: made, replaced and revoked by those who run the organisation. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { digestOf, newToken } from '../../identity/secrets.ts';
import { requireMayVouch } from '../auth/vouching.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { requireScim, scimSettingsOf, storeSettings } from './settings.ts';

const path = '/admin/organisation/auth-settings/scim/token';
const access = {
  callers: ['admin-key', 'session'],
  scope: 'organisation_settings.update',
  level: 'organisation',
} as const;

export const makeToken = endpoint({
  method: 'POST',
  path,
  tag: 'SCIM',
  summary: 'Make the SCIM token of the organisation, or replace it',
  description: 'The token is shown here once. One that it replaces stops working at once.',
  access,
  throttle: 'sensitive',
  audit: { resource: 'organisation', action: 'rotate' },
  reply: () =>
    z.object({
      object: z.literal('scim_token'),
      token: z.string(),
      base_url: z.string().describe('What the identity provider is given as the address'),
      created_at: z.string(),
    }),
  async handle({ caller, db, now, services, exchange, note }) {
    requireScim(services);
    await requireMayVouch(db, caller);
    const { organisationId } = caller;
    const before = await scimSettingsOf(db, organisationId);
    const token = `gwscim_${newToken()}`;
    await storeSettings(db, now, organisationId, before, {
      token_id: Bun.randomUUIDv7(),
      token_digest: digestOf(token),
      token_masked: masked(token),
      token_created_at: now.toISOString(),
    });
    note({ resourceId: organisationId, details: { what: 'scim token', old_token: before.token?.masked ?? null } });
    return {
      object: 'scim_token' as const,
      token,
      base_url: `${exchange.origin}/v2/scim/${organisationId}`,
      created_at: now.toISOString(),
    };
  },
});

export const revokeToken = endpoint({
  method: 'DELETE',
  path,
  tag: 'SCIM',
  summary: 'Revoke the SCIM token of the organisation',
  access,
  audit: { resource: 'organisation', action: 'delete' },
  reply: empty,
  async handle({ caller, db, now, services, note }) {
    requireScim(services);
    const { organisationId } = caller;
    const before = await scimSettingsOf(db, organisationId);
    if (!before.token) throw notFound('SCIM token');
    const none = { token_id: null, token_digest: null, token_masked: null, token_created_at: null };
    await storeSettings(db, now, organisationId, before, none);
    note({ resourceId: organisationId, details: { what: 'scim token', old_token: before.token.masked } });
    return {};
  },
});

const masked = (token: string): string => `${token.slice(0, 3)}*******${token.slice(-3)}`;
