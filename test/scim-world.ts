/** An organisation with SCIM switched on, a token and a domain of its own. */
import type { Json, TestGateway } from './harness.ts';
import { home, type Place, storeOf } from './people.ts';

export interface ScimDoor extends Place {
  token: string;
  base: string;
  /** Asks below the base as the identity provider. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json; headers: Headers }>;
}

export async function openScim(
  gateway: TestGateway,
  domain = 'acme.test',
  tenant?: Place & { adminKey: string },
): Promise<ScimDoor> {
  const place = tenant ?? (await home(gateway));
  const { organisationId, workspaceId } = place;
  const key = tenant?.adminKey ?? gateway.adminKey;
  await verifyDomain(gateway, organisationId, domain);
  const settings = '/v1/admin/organisation/auth-settings';
  await gateway.put(settings, { scim: { enabled: true } }, { key });
  const { body } = await gateway.post(`${settings}/scim/token`, undefined, { key });
  const base = `/v2/scim/${organisationId}`;
  return {
    organisationId,
    workspaceId,
    token: body.token,
    base,
    ask: (method, path, sent) =>
      gateway.ask(method, base + path, {
        key: '',
        headers: { authorization: `Bearer ${body.token}`, 'content-type': 'application/scim+json' },
        ...(sent !== undefined && { body: sent }),
      }),
  };
}

/** People as the identity provider makes and changes them; each has an address of their own. */
export function scimPeople(door: () => ScimDoor) {
  let count = 0;
  const fresh = () => `person-${count++}@acme.test`;
  return {
    fresh,
    create: async (fields: object = {}): Promise<Json> =>
      (await door().ask('POST', '/Users', { userName: fresh(), ...fields })).body,
    patch: (id: string, ...Operations: unknown[]) => door().ask('PATCH', `/Users/${id}`, { Operations }),
  };
}

/** A domain that the organisation has proven to be its own. */
export async function verifyDomain(gateway: TestGateway, organisationId: string, domain: string): Promise<void> {
  const at = gateway.clock.now().toISOString();
  await storeOf(gateway)
    .db.insertInto('email_domains')
    .values({
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      domain,
      allow_subdomains: 1,
      status: 'verified',
      verification_code: 'code',
      mailed_code_digest: '',
      verified_at: at,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
}
