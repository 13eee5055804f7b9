/** OAuth clients: those that registered themselves, and those that are described by a document at their own address. */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readJson } from '../bounded-json.ts';
import { digestOf } from '../identity/secrets.ts';
import { lazy } from '../lazy.ts';
import { nobody, type UpstreamHttp } from '../mcp/upstream/http.ts';
import type { Db } from '../store/database.ts';
import { decode, encode } from '../store/json.ts';
import { OauthError } from './errors.ts';
import { faultOfRedirectUris, type RedirectRules } from './redirect-uris.ts';
import { supportedScopes } from './scopes.ts';

export interface OauthClient {
  id: string;
  secretDigest: string | null;
  name: string;
  redirectUris: readonly string[];
  scope: ReadonlySet<string>;
  method: 'none' | 'client_secret_post' | 'client_secret_basic';
  /** It registered for refresh tokens. */
  mayRefresh: boolean;
}

const short = () => z.string().max(255);
const address = () => z.string().max(2048);

const registration = lazy(() =>
  z.object({
    redirect_uris: z.unknown(),
    client_name: short().optional(),
    client_uri: address().optional(),
    logo_uri: address().optional(),
    grant_types: z
      .array(z.enum(['authorization_code', 'refresh_token']))
      .max(2)
      .optional(),
    response_types: z.array(z.literal('code')).max(1).optional(),
    token_endpoint_auth_method: z.enum(['none', 'client_secret_post', 'client_secret_basic']).default('none'),
    scope: z.string().max(1024).optional(),
    contacts: z.array(short()).max(10).optional(),
    tos_uri: address().optional(),
    policy_uri: address().optional(),
    software_id: short().optional(),
    software_version: short().optional(),
    application_type: z.enum(['native', 'web']).optional(),
  }),
);

const documentLimits = { bytes: 64 * 1024, ms: 5_000 };

export function createClients(db: Db, http: UpstreamHttp, rules: RedirectRules, now: () => Date) {
  const save = async (client: OauthClient, metadata: Record<string, unknown>): Promise<void> => {
    const at = now().toISOString();
    const columns = { secret_digest: client.secretDigest, metadata: encode(metadata), last_used_at: at };
    await db
      .insertInto('oauth_clients')
      .values({ id: client.id, created_at: at, ...columns })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
      .execute();
  };

  /** A client whose id is an address is described there. */
  const described = async (id: string): Promise<OauthClient | null> => {
    const answer = await http
      .fetch(
        { url: id, method: 'GET', headers: { accept: 'application/json' }, body: null, tenant: nobody },
        documentLimits,
      )
      .catch(() => null);
    if (answer?.status !== 200 || answer.url !== id) return null;
    const parsed = registration()
      .extend({ client_id: z.literal(id) })
      .safeParse(parsedJson(answer.text));
    if (!parsed.success || faultOfRedirectUris(parsed.data.redirect_uris, rules)) return null;
    const client = clientOf(id, null, { ...parsed.data, token_endpoint_auth_method: 'none' });
    await save(client, { ...parsed.data, token_endpoint_auth_method: 'none' });
    return client;
  };

  return {
    async register(body: unknown): Promise<object> {
      const parsed = registration().safeParse(body);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw new OauthError('invalid_client_metadata', `${issue?.path.join('.')}: ${issue?.message}`);
      }
      const fault = faultOfRedirectUris(parsed.data.redirect_uris, rules);
      if (fault) throw new OauthError('invalid_redirect_uri', fault);
      const unknown = scopesIn(parsed.data.scope).find((scope) => !supportedScopes.has(scope));
      if (unknown) throw new OauthError('invalid_client_metadata', `scope: ${unknown} is none of ours`);
      const confidential = parsed.data.token_endpoint_auth_method !== 'none';
      const secret = confidential ? randomBytes(32).toString('base64url') : null;
      const id = `gwc_${randomBytes(16).toString('base64url')}`;
      const metadata = {
        ...parsed.data,
        grant_types: parsed.data.grant_types ?? ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      };
      await save(clientOf(id, secret && digestOf(secret), metadata), metadata);
      return {
        client_id: id,
        client_id_issued_at: Math.floor(now().getTime() / 1_000),
        ...metadata,
        ...(secret !== null && { client_secret: secret, client_secret_expires_at: 0 }),
      };
    },
    /** Whether a client of this id was seen before. */
    async isKept(id: string): Promise<boolean> {
      const row = await db.selectFrom('oauth_clients').select('id').where('id', '=', id).executeTakeFirst();
      return row !== undefined;
    },
    async find(id: string): Promise<OauthClient | null> {
      if (id.length > 2048) return null;
      if (id.startsWith('https://')) return described(id);
      const row = await db.selectFrom('oauth_clients').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? clientOf(row.id, row.secret_digest, decode(row.metadata)) : null;
    },
    /** The client that a call to the token endpoint speaks for. */
    async authenticate(form: URLSearchParams, authorization: string | null): Promise<OauthClient> {
      const basic = basicIn(authorization);
      const id = basic?.id ?? form.get('client_id') ?? '';
      // Who has a secret was registered here.
      if (basic?.id.startsWith('https://')) throw new OauthError('invalid_client', 'the client is unknown');
      const client = id === '' ? null : await this.find(id);
      if (!client) throw new OauthError('invalid_client', 'the client is unknown');
      const secret = basic?.secret ?? form.get('client_secret');
      if (client.secretDigest === null) return client;
      if (!secret || !sameText(digestOf(secret), client.secretDigest)) {
        throw new OauthError('invalid_client', 'the client secret is wrong');
      }
      return client;
    },
    async used(id: string): Promise<void> {
      await db.updateTable('oauth_clients').set({ last_used_at: now().toISOString() }).where('id', '=', id).execute();
    },
  };
}

export type Clients = ReturnType<typeof createClients>;

const scopesIn = (scope: unknown): string[] => (typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []);

function clientOf(id: string, secretDigest: string | null, metadata: Readonly<Record<string, unknown>>): OauthClient {
  const { redirect_uris, client_name, token_endpoint_auth_method: method, grant_types } = metadata;
  const scope = scopesIn(metadata.scope);
  return {
    id,
    secretDigest,
    name: typeof client_name === 'string' && client_name !== '' ? client_name : id,
    redirectUris: Array.isArray(redirect_uris) ? redirect_uris.map(String) : [],
    scope: new Set(scope.length > 0 ? scope : supportedScopes),
    method: method === 'client_secret_post' || method === 'client_secret_basic' ? method : 'none',
    mayRefresh: !Array.isArray(grant_types) || grant_types.includes('refresh_token'),
  };
}

function basicIn(authorization: string | null): { id: string; secret: string } | null {
  const encoded = /^basic\s+(.+)$/i.exec(authorization ?? '')?.[1];
  if (!encoded) return null;
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return { id: formDecoded(id), secret: formDecoded(secret.join(':')) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const sameText = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

function parsedJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}
