/** Calls with an organisation's tokens, and what the audit trail tells of those that were refused. */
import type { TestGateway } from './harness.ts';
import { storeOf } from './people.ts';

export const settingsPath = '/v1/admin/organisation/auth-settings';
export const trusted = { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };

export const inAnHour = (gateway: TestGateway) => Math.floor(gateway.clock.now().getTime() / 1_000) + 3_600;

export const chat = (gateway: TestGateway, key: string, headers: Record<string, string> = {}) =>
  gateway.post(
    '/v1/chat/completions',
    { model: '@sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] },
    { key, headers },
  );

export const rejections = (gateway: TestGateway, organisationId: string) =>
  storeOf(gateway)
    .db.selectFrom('audit_logs')
    .selectAll()
    .where('resource_type', '=', 'jwt')
    .where('organisation_id', '=', organisationId)
    .orderBy('id')
    .execute();

/** The organisation that a token claims to be of. */
export const namedIn = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).gw_oid;

export const lastCall = (gateway: TestGateway) => gateway.records.at(-1)?.metrics;

/** Rows of refusals are written soon after. */
export async function lastRejection(gateway: TestGateway, organisationId: string, ...words: readonly string[]) {
  for (;;) {
    const rows = await rejections(gateway, organisationId);
    const row = rows.findLast(({ details }) => words.every((word) => details?.includes(word)));
    if (row) return row;
    await Bun.sleep(5);
  }
}
