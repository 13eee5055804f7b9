/** What a secret manager is to the rest: the form of its credentials, and one function that fetches a secret. */
import type { z } from 'zod';
import type { Authentication } from '../providers/authentication.ts';

export const managerTypes = ['aws_sm', 'azure_kv', 'hashicorp_vault', 'gcp_sm', 'environment', 'file'] as const;
export type ManagerType = (typeof managerTypes)[number];

/** In the wire's words. */
export type AuthConfig = Readonly<Record<string, string>>;

/** A secret reference as it is used: where the secret is, and how to get in. */
export interface SecretSource {
  id: string;
  organisationId: string;
  slug: string;
  manager: ManagerType;
  auth: AuthConfig;
  path: string;
  /** Of the reference itself; a mapping may name another. */
  key: string | null;
  /** The same for the same secret got in the same way: what is kept of it stands under this. */
  fingerprint: string;
}

/** Text, or fields where the manager itself stores fields. */
export type SecretPayload = string | Readonly<Record<string, unknown>>;

export interface SecretManager {
  /** What auth_config must hold, by mode. */
  authConfig(): z.ZodType<AuthConfig>;
  /** Read back as `masked_…`. */
  maskedFields: ReadonlySet<string>;
  /** Fields with an address that the customer chose. */
  addressFields: readonly string[];
  /** What is wrong with a path, before anybody is asked; null: nothing. */
  faultOfPath?(path: string): string | null;
  fetch(source: SecretSource, means: ManagerMeans): Promise<SecretPayload>;
}

export interface ManagerCall {
  url: string;
  method: 'GET' | 'POST' | 'PUT';
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** The operator named this address, so that the rules for customers' addresses do not hold. */
  fromOperator?: boolean;
}

export interface ManagerAnswer {
  status: number;
  text: string;
}

/** What managers work with. */
export interface ManagerMeans {
  /** Within the time that is left for the fetch; throws a SecretFault where there is no answer. */
  call(call: ManagerCall): Promise<ManagerAnswer>;
  /** The headers that a call to a cloud needs besides its own. */
  authorise(
    authentication: Authentication,
    call: Pick<ManagerCall, 'url' | 'method' | 'headers' | 'body'>,
  ): Promise<Record<string, string>>;
  /** A token that the manager has refused is not offered again. */
  forget(authentication: Authentication): void;
  /** Throws a SecretFault unless the gateway's own identity may be shown to this address. */
  requireTrusted(url: string): void;
  /** A token that several fetches share, and that ends. */
  token(key: string, ask: () => Promise<{ value: string; livesMs: number }>): Promise<string>;
  forgetToken(key: string): void;
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  /** Variables and files that the operator has opened. */
  local: { environmentVariables: readonly string[]; filesDir: string | null };
}

/**
 * Why there is no secret. `away`: the manager could not be asked or answered nonsense, and may do better soon. `refused`: it was
 * asked and said no. The message is for callers and logs: it never holds anything that a manager sent.
 */
export class SecretFault extends Error {
  readonly kind: 'away' | 'refused';

  constructor(kind: SecretFault['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A status other than 200 as a fault; `code` is the manager's own word for it, which is told where it is plainly one. */
export function faultOfStatus(status: number, code: unknown = null): SecretFault {
  const word = typeof code === 'string' && /^[A-Za-z]{3,60}$/.test(code) ? `, ${code}` : '';
  const away = status >= 500 || status === 429 || status === 408 || (status >= 300 && status < 400);
  return new SecretFault(away ? 'away' : 'refused', `the manager answered with the status ${status}${word}`);
}

export const nonsense = (): SecretFault =>
  new SecretFault('away', 'the manager answered with something else than a secret');
