/** What a check may ask of the world. It only says which call it wants; the runner makes it, with its own rules for addresses, times and sizes. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { SecretUse } from '../secrets/mapping.ts';
import type { ResolvedSecrets } from '../secrets/resolver.ts';

export interface OutboundCall {
  url: string;
  method: 'GET' | 'POST' | 'HEAD';
  headers: Readonly<Record<string, string>>;
  body: string | null;
  timeoutMs: number;
  /** Answers beyond it are an error; 5 MB where it is not said. */
  maxBytes?: number;
  /** How many redirects are followed; none for calls with credentials. */
  redirects?: number;
  /** Signs the call as clouds ask for it. */
  sign?: AwsSigning;
}

export interface AwsSigning {
  service: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

export interface OutboundAnswer {
  status: number;
  header(name: string): string | null;
  bytes: Uint8Array;
}

/** Why there is no answer. */
export class CallFault extends Error {
  constructor(name: 'Timeout Error' | 'Address Error' | 'Connection Error' | 'Size Error', message: string) {
    super(message);
    this.name = name;
  }
}

/** What the moderation endpoint of a provider said, in OpenAI's words. */
export type ModerationAnswer = { categories: Readonly<Record<string, boolean>>; json: JsonObject };

export interface CheckIo {
  /** Rejects with a CallFault. */
  call(call: OutboundCall): Promise<OutboundAnswer>;
  /** Whether a host name has an address that may be called. */
  resolves(host: string, timeoutMs: number): Promise<boolean>;
  /** Asks a saved provider of the workspace. Rejects where there is none or it cannot. */
  moderate(provider: string, model: string | null, text: string, timeoutMs: number): Promise<ModerationAnswer>;
  /** Credentials that live in a secret manager. Absent where nothing is mapped. */
  secrets?: CheckSecrets;
  /** Small things for a while: key sets and tokens. */
  cache: CheckCache;
  /** Milliseconds since 1970. */
  now(): number;
  newId(): string;
}

export interface CheckSecrets {
  /** The same object while the values are the same. */
  resolve(uses: readonly SecretUse[]): MaybePromise<ResolvedSecrets>;
  /** After a service has refused what was used: other values where the manager has others now, else null. */
  renew(uses: readonly SecretUse[], used: ResolvedSecrets): Promise<ResolvedSecrets | null>;
}

export interface CheckCache {
  get(key: string): unknown;
  put(key: string, value: unknown, ttlMs: number): void;
}
