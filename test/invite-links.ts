/** A gateway whose invites are made, looked at and accepted by their links. */
import { passwordsOf } from '../src/identity/accounts.ts';
import type { startGateway } from './harness.ts';
import { addOrganisation, home, storeOf } from './people.ts';
export const password = 'correct horse battery';
export const newcomer = { password, first_name: 'Grace', last_name: 'Hopper' };
export const invitesAccepted = { resource_type: 'invite', action: 'update' };
let addresses = 0;
export const newAddress = () => `guest-${addresses++}@example.com`;

export async function startInviteLinks(start: typeof startGateway) {
  const gateway = await start();
  const place = await home(gateway);
  const elsewhere = await addOrganisation(gateway);

  const invite = async (email: string, more: object = {}) => {
    const { body } = await gateway.post('/v1/users/invites', { email, role: 'member', ...more });
    const token: string = body.invite_link.split('/').at(-1);
    return { id: body.id as string, token };
  };
  const look = (token: string) => gateway.get(`/v1/invites/${token}`, { key: '' });
  const accept = (token: string, body?: object, key = '', headers: Record<string, string> = {}) =>
    gateway.post(`/v1/invites/${token}/accept`, body, { key, headers });
  const user = (id: string) => gateway.get(`/v1/users/${id}`);
  const verify = async (userId: string, candidate: string) => {
    const { store, passwords } = gateway.app.services;
    const stored = await passwordsOf(store.db, userId);
    const here = stored.find(({ organisationId }) => organisationId === place.organisationId);
    return passwords.verify(candidate, here?.passwordHash ?? null);
  };
  /** Rows of refusals are written behind the reply, so it asks until there are as many as expected. */
  const auditOf = async (resourceId: string, expected: number) => {
    const query = storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('resource_id', '=', resourceId)
      .where('uri', 'like', '/v1/invites/%')
      .orderBy('id');
    let rows = await query.execute();
    for (let tries = 0; rows.length < expected && tries < 500; tries++) rows = await query.execute();
    return rows;
  };

  return { gateway, place, elsewhere, invite, look, accept, user, verify, auditOf };
}

export type InviteLinks = Awaited<ReturnType<typeof startInviteLinks>>;
