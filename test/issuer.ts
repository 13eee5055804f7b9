/** A company's own issuer of tokens: keys that it can rotate, a key set behind an address, and tokens of any form. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

interface IssuerKey {
  kid: string;
  privateKey: CryptoKey;
  jwk: Record<string, unknown>;
}

async function newKey(kid: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

export interface Issuer {
  url: string;
  /** How often the key set was asked for. */
  readonly fetches: number;
  /** The public keys as they are published now. */
  keySet(): { keys: Record<string, unknown>[] };
  /** Signs with the newest key unless another one is named. */
  token(claims: JWTPayload, header?: Record<string, unknown>, kid?: string): Promise<string>;
  /** Adds a key; with `only`, the ones before are no longer published. */
  rotate(kid: string, only?: boolean): Promise<void>;
  /** What the address answers from now on; null: the key set. */
  answerWith(response: (() => Response) | null): void;
  stop(): void;
}

export async function startIssuer(): Promise<Issuer> {
  const keys = [await newKey('first')];
  let published = [...keys];
  let fetches = 0;
  let answer: (() => Response) | null = null;
  const keySet = () => ({ keys: published.map(({ jwk }) => jwk) });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      fetches++;
      return answer ? answer() : Response.json(keySet());
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/jwks`,
    get fetches() {
      return fetches;
    },
    keySet,
    async token(claims, header = {}, kid) {
      const key = kid === undefined ? keys.at(-1) : keys.find((known) => known.kid === kid);
      if (!key) throw new Error(`No key ${kid}`);
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...header })
        .sign(key.privateKey);
    },
    async rotate(kid, only = false) {
      const key = await newKey(kid);
      keys.push(key);
      published = only ? [key] : [...published, key];
    },
    answerWith(response) {
      answer = response;
    },
    stop: () => void server.stop(true),
  };
}

/** A token that nobody signed, of any header and claims. */
export const unsignedToken = (header: object, claims: object): string => `${part(header)}.${part(claims)}.`;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
