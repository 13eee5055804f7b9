/** The key that signs who a caller is, for upstreams that check it; its public half stands in the key set. */
import { exportJWK, generateKeyPair, importJWK, importPKCS8, type JWK, SignJWT } from 'jose';
import type { SignIdentity } from '../mcp/upstream/headers.ts';
import type { Store } from '../store/database.ts';
import { decode, encode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';

const algorithm = 'RS256';
const issuer = 'gw-mcp-gateway';
const purpose = 'signing-key';
const mostKept = 10_000;

interface SigningKey {
  kid: string;
  key: CryptoKey;
  publicJwk: JWK;
}

export interface Signing {
  sign: SignIdentity;
  jwks(): Promise<{ keys: JWK[] }>;
}

export function createSigning(store: Store, vault: Vault, pem: string | null, now: () => Date): Signing {
  let making: Promise<SigningKey> | null = null;
  const key = () => {
    making ??= (pem === null ? storedKey(store, vault, now()) : givenKey(pem)).catch((fault) => {
      making = null;
      throw fault;
    });
    return making;
  };
  /** The same caller is told by the same token until it is half over. */
  const signed = new Map<string, { token: string; until: number }>();

  return {
    async sign(claims, seconds) {
      const subject = JSON.stringify([claims, seconds]);
      const at = now().getTime();
      const known = signed.get(subject);
      if (known && known.until > at) return known.token;
      const { kid, key: privateKey } = await key();
      const issued = Math.floor(at / 1_000);
      const token = await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setIssuedAt(issued)
        .setExpirationTime(issued + seconds)
        .sign(privateKey);
      if (signed.size >= mostKept) {
        const [oldest] = signed.keys();
        if (oldest !== undefined) signed.delete(oldest);
      }
      signed.set(subject, { token, until: at + seconds * 500 });
      return token;
    },
    async jwks() {
      const { publicJwk } = await key();
      return { keys: [publicJwk] };
    },
  };
}

const publicOf = (jwk: JWK, kid: string): JWK => ({
  kty: jwk.kty ?? 'RSA',
  n: jwk.n ?? '',
  e: jwk.e ?? '',
  alg: algorithm,
  use: 'sig',
  kid,
});

const kidOf = (jwk: JWK): string => Bun.CryptoHasher.hash('sha256', `${jwk.n}.${jwk.e}`, 'hex').slice(0, 16);

async function givenKey(pem: string): Promise<SigningKey> {
  const key = await importPKCS8(pem.replaceAll('\\n', '\n'), algorithm, { extractable: true });
  const jwk = await exportJWK(key);
  const kid = kidOf(jwk);
  return { kid, key, publicJwk: publicOf(jwk, kid) };
}

/** The first node makes it; all others find it. */
async function storedKey(store: Store, vault: Vault, now: Date): Promise<SigningKey> {
  const find = () => store.db.selectFrom('signing_keys').selectAll().orderBy('created_at').executeTakeFirst();
  if (!(await find())) {
    const { privateKey } = await generateKeyPair(algorithm, { modulusLength: 2048, extractable: true });
    const jwk = await exportJWK(privateKey);
    const kid = kidOf(jwk);
    await store.db
      .insertInto('signing_keys')
      .values({
        kid,
        private_sealed: vault.seal(JSON.stringify(jwk), purpose),
        public_jwk: encode({ ...publicOf(jwk, kid) }),
        created_at: now.toISOString(),
      })
      .execute();
  }
  const row = await find();
  if (!row) throw new Error('The signing key is gone');
  const key = await importJWK(JSON.parse(vault.open(row.private_sealed, purpose)), algorithm);
  if (key instanceof Uint8Array) throw new Error('The signing key is no RSA key');
  return { kid: row.kid, key, publicJwk: decode(row.public_jwk) };
}
