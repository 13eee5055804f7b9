/** HashiCorp Vault and OpenBao: a token, an AppRole or the gateway's Kubernetes account; secrets of either version of the KV engine. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import { lazy } from '../../lazy.ts';
import {
  type AuthConfig,
  faultOfStatus,
  type ManagerMeans,
  nonsense,
  SecretFault,
  type SecretManager,
  type SecretPayload,
} from '../manager.ts';
import { address, below, bounded } from './fields.ts';

const shared = () => ({
  vault_addr: address(),
  vault_namespace: bounded(256).optional(),
});
const mount = () =>
  z
    .string()
    .max(256)
    .regex(/^[\w-]+(\/[\w-]+)*$/, 'must be the path of an auth method, such as kubernetes')
    .optional();

const authConfig = lazy(() =>
  z.discriminatedUnion('vault_auth_type', [
    z.object({ vault_auth_type: z.literal('token'), vault_token: bounded(), ...shared() }),
    z.object({
      vault_auth_type: z.literal('approle'),
      vault_role_id: bounded(),
      vault_secret_id: bounded(),
      vault_auth_mount: mount(),
      ...shared(),
    }),
    z.object({
      vault_auth_type: z.literal('kubernetes'),
      vault_role: bounded(256),
      vault_auth_mount: mount(),
      ...shared(),
    }),
  ]),
);

const loggedIn = lazy(() =>
  z.object({ auth: z.object({ client_token: z.string().min(1), lease_duration: z.number().min(0).default(0) }) }),
);
const fields = () => z.record(z.string(), z.unknown());
const secret = lazy(() => z.object({ data: fields() }));
/** Version 2 of the KV engine wraps the fields once more, beside what it knows of their version. */
const versioned = lazy(() => z.object({ data: fields().nullable(), metadata: fields() }));

const platformTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const namespaceOf = ({ vault_namespace }: AuthConfig): Record<string, string> =>
  vault_namespace ? { 'x-vault-namespace': vault_namespace } : {};

async function login(auth: AuthConfig, method: string, form: object, means: ManagerMeans) {
  const { status, text } = await means.call({
    url: below(auth.vault_addr ?? '', `v1/auth/${auth.vault_auth_mount ?? method}/login`),
    method: 'POST',
    headers: { 'content-type': 'application/json', ...namespaceOf(auth) },
    body: JSON.stringify(form),
  });
  // Wrong credentials are a 400 here.
  if (status !== 200) throw faultOfStatus(status, null);
  const parsed = loggedIn().safeParse(jsonOrNothing(text));
  if (!parsed.success) throw nonsense();
  const { client_token, lease_duration } = parsed.data.auth;
  return { value: client_token, livesMs: lease_duration * 1000 };
}

async function platformToken({ env, readFile }: ManagerMeans): Promise<string> {
  const token = await readFile(env.VAULT_KUBERNETES_TOKEN_FILE || platformTokenFile).catch(() => {
    throw new SecretFault('refused', 'the gateway has no Kubernetes service account token to log in with');
  });
  return token.trim();
}

function tokenOf(auth: AuthConfig, key: string, means: ManagerMeans): Promise<string> {
  if (auth.vault_auth_type === 'token') return Promise.resolve(auth.vault_token ?? '');
  if (auth.vault_auth_type === 'approle') {
    const form = { role_id: auth.vault_role_id, secret_id: auth.vault_secret_id };
    return means.token(key, () => login(auth, 'approle', form, means));
  }
  return means.token(key, async () => {
    // It says who the gateway is, so that only a Vault of the operator's may see it.
    means.requireTrusted(auth.vault_addr ?? '');
    return login(auth, 'kubernetes', { role: auth.vault_role, jwt: await platformToken(means) }, means);
  });
}

/** What the key/value engines answer with; anything else that has fields is taken as it is. */
function payloadOf(text: string): SecretPayload {
  const parsed = secret().safeParse(jsonOrNothing(text));
  if (!parsed.success) throw nonsense();
  const { data } = parsed.data;
  const inner = versioned().safeParse(data);
  if (!inner.success || Object.keys(data).length !== 2) return data;
  if (inner.data.data === null) throw new SecretFault('refused', 'this version of the secret was deleted');
  return inner.data.data;
}

export const hashicorpVault: SecretManager = {
  authConfig: authConfig as () => z.ZodType<AuthConfig>,
  maskedFields: new Set(['vault_token', 'vault_secret_id']),
  addressFields: ['vault_addr'],
  faultOfPath: (path) =>
    /^[^/?#\s\\][^?#\\]*$/.test(path) && !path.split('/').some((part) => part === '..' || part === '.')
      ? null
      : 'must be a path without a leading slash, such as secret/data/openai',
  async fetch({ auth, path }, means) {
    const key = `vault ${createHash('sha256').update(JSON.stringify(auth)).digest('base64url')}`;
    const read = async () =>
      means.call({
        url: below(auth.vault_addr ?? '', `v1/${path.split('/').map(encodeURIComponent).join('/')}`),
        method: 'GET',
        headers: { 'x-vault-token': await tokenOf(auth, key, means), 'x-vault-request': 'true', ...namespaceOf(auth) },
      });
    let answer = await read();
    // A token that was revoked before its lease ended is got anew, once.
    if (answer.status === 403 && auth.vault_auth_type !== 'token') {
      means.forgetToken(key);
      answer = await read();
    }
    if (answer.status !== 200) throw faultOfStatus(answer.status);
    return payloadOf(answer.text);
  },
};
