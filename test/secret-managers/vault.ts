/** HashiCorp Vault on loopback, as its API description has it: logins, both versions of the KV engine, namespaces, leases, sealing. */
import { type Behaviour, json, type ReceivedCall } from '../providers/simulated.ts';

interface Version {
  data: Record<string, unknown> | null;
  version: number;
}

export interface VaultState {
  /** Tokens that count, and the namespace that they are of. */
  tokens: Map<string, string>;
  approles: Map<string, { secretId: string; namespace: string }>;
  kubernetes: Map<string, { jwt: string; namespace: string }>;
  /** Under `kv/`, version 1 of the engine. */
  kv1: Map<string, Record<string, unknown>>;
  /** Under `secret/`, version 2. */
  kv2: Map<string, Version>;
  sealed: boolean;
  leaseSeconds: number;
  logins: number;
}

export const newVault = (): VaultState => ({
  tokens: new Map([['root-token', '']]),
  approles: new Map(),
  kubernetes: new Map(),
  kv1: new Map(),
  kv2: new Map(),
  sealed: false,
  leaseSeconds: 3_600,
  logins: 0,
});

const errors = (status: number, ...messages: string[]): Behaviour => json(status, { errors: messages });

const secretBody = (data: unknown) => ({
  request_id: '0f1c9e2e-0000-4000-8000-000000000000',
  lease_id: '',
  renewable: false,
  lease_duration: 2_764_800,
  data,
  wrap_info: null,
  warnings: null,
  auth: null,
});

export const vaultServer =
  (state: VaultState): Behaviour =>
  (call, response) =>
    answer(call, state)(call, response);

function answer(call: ReceivedCall, state: VaultState): Behaviour {
  if (state.sealed) return errors(503, 'Vault is sealed');
  const namespace = call.headers['x-vault-namespace'] ?? '';
  const login = /^\/v1\/auth\/([\w/-]+)\/login$/.exec(call.path);
  if (login)
    return call.method === 'POST' || call.method === 'PUT'
      ? loggedIn(call, login[1] ?? '', namespace, state)
      : errors(405);
  const token = call.headers['x-vault-token'];
  if (token === undefined) return errors(403, 'missing client token');
  if (state.tokens.get(token) !== namespace) return errors(403, 'permission denied');
  if (call.method !== 'GET') return errors(405, 'unsupported operation');
  const path = decodeURIComponent(call.path.slice('/v1/'.length));
  if (path.startsWith('kv/')) {
    const data = state.kv1.get(path.slice(3));
    return data ? json(200, secretBody(data)) : errors(404);
  }
  if (path.startsWith('secret/data/')) return versionTwo(state.kv2.get(path.slice('secret/data/'.length)));
  return errors(404, `no handler for route "${path}". route entry not found.`);
}

function versionTwo(found: Version | undefined): Behaviour {
  if (!found) return errors(404);
  const metadata = {
    created_time: '2026-01-01T00:00:00.000000000Z',
    custom_metadata: null,
    deletion_time: found.data === null ? '2026-01-02T00:00:00.000000000Z' : '',
    destroyed: false,
    version: found.version,
  };
  return json(found.data === null ? 404 : 200, secretBody({ data: found.data, metadata }));
}

function loggedIn({ json: body }: ReceivedCall, mount: string, namespace: string, state: VaultState): Behaviour {
  const isKnown =
    mount === 'approle'
      ? state.approles.get(body?.role_id)?.secretId === body?.secret_id &&
        state.approles.get(body?.role_id)?.namespace === namespace
      : state.kubernetes.get(`${mount} ${body?.role}`)?.jwt === body?.jwt &&
        state.kubernetes.get(`${mount} ${body?.role}`)?.namespace === namespace;
  if (mount !== 'approle' && !state.kubernetes.has(`${mount} ${body?.role}`)) {
    return errors(400, `invalid role name "${body?.role}"`);
  }
  if (!isKnown)
    return mount === 'approle' ? errors(400, 'invalid role or secret ID') : errors(403, 'permission denied');
  state.logins++;
  const token = `hvs.login-${state.logins}`;
  state.tokens.set(token, namespace);
  return json(200, {
    ...secretBody(null),
    auth: {
      client_token: token,
      accessor: 'accessor',
      policies: ['default', 'gw'],
      token_policies: ['default', 'gw'],
      metadata: {},
      lease_duration: state.leaseSeconds,
      renewable: true,
      entity_id: '',
      token_type: 'service',
      orphan: true,
    },
  });
}
