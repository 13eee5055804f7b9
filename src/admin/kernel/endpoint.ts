/** An endpoint of the control plane is a value. The kernel does everything that endpoints have in common. */
import type { z } from 'zod';
import type { Caller, CallerKind } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import { lazy } from '../../lazy.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { AuditAction, AuditResource } from './audit/audit-vocabulary.ts';
import type { Dependant } from './dependant.ts';
import type { Page } from './lists/page.ts';
import type { Services } from './services.ts';
import type { NamedWorkspace } from './workspace-lock.ts';

export type { Dependant, NamedWorkspace, Page };

/** Who may call. `scope: null` lets in every listed kind of caller; the handler then decides what they see. */
export type Access =
  | 'open'
  | {
      callers: readonly [CallerKind, ...CallerKind[]];
      scope: Scope | { anyOf: readonly Scope[] } | null;
      /** Where the scope must be held: on the organisation, or in the workspace that the request names. */
      level: 'organisation' | 'workspace';
      /** How a credential of another kind is answered: 403, or 401 where it counts as no credential at all. */
      others?: 'forbidden' | 'unauthenticated';
      /** True where an organisation's JWT is answered although a workspace key is not. */
      jwt?: true;
      /** True where a person who belongs to no workspace yet is shown an empty list instead of a refusal. */
      emptyForNewcomers?: true;
      /** True for the one call whose body may name another organisation: the one that leads there. */
      leadsElsewhere?: true;
    };

export interface Paging {
  /** Rows a page when the caller does not say. */
  size: number;
  /** More than this is cut to it. */
  max: number;
  /** True where a page of no rows (only the total) is a fair question. */
  allowZero?: boolean;
  /** 1 where pages are counted from one. */
  first?: 1;
}

/** What the caller's side of the exchange looks like. */
export interface Exchange {
  requestId: string;
  clientIp: string;
  country: string | null;
  /** Scheme, host and port under which the client reached us, for links. */
  origin: string;
  headers: Headers;
}

export interface AuditNote {
  resourceId?: string;
  workspaceId?: string;
  details?: Record<string, unknown>;
  /** Who acted, on routes that are open to callers without a credential. */
  actor?: { id: string; type: 'user' | 'api_key'; organisationId: string };
}

export interface Call<P, Q, B, C = Caller> {
  caller: C;
  params: P;
  query: Q;
  body: B;
  page: Page;
  /** The workspace that the request names or the key is bound to; null when there is none. */
  workspace: NamedWorkspace | null;
  /** A transaction for methods that write: it commits when the handler returns and leaves no trace when it throws. */
  db: Db;
  /**
   * Where `atomic` is false: the transaction in which the handler does all its writing, once, after its slow work. The audit row
   * and the change notices are part of it, so `changed` and `note` are called inside. It may run again when it loses a race.
   */
  commit<T>(work: (tx: Db) => Promise<T>): Promise<T>;
  now: Date;
  services: Services;
  exchange: Exchange;
  /** Tells everyone who keeps a copy of this record that it changed; takes effect with the commit. */
  changed(...changes: Change[]): void;
  /** Adds to the audit row of this call. */
  note(entry: AuditNote): void;
  /** Sets a header of the reply. */
  header(name: string, value: string): void;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Its schemas are made when they are first needed: all of them together take some 9 MB, and most describe replies, which only the reference reads. */
interface Declaration<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends Access,
> {
  /**
   * Below `/v1` and `/v2`. Parameters are written `:name`, and `*name` where one takes the rest of the path; `:workspaceId` names the
   * workspace of the call, by id or slug.
   */
  path: `/${string}`;
  /** True for the few that are also served without a version before them. */
  atRoot?: true;
  /** Other spellings of the same path. */
  aliases?: readonly `/${string}`[];
  tag: string;
  summary: string;
  description?: string;
  access: A;
  params?: () => P;
  query?: () => Q;
  body?: () => B;
  /** Bytes of the largest body; 1 MiB where it does not say. */
  bodyLimit?: number;
  /** False for routes that may be called with no body at all. */
  bodyRequired?: boolean;
  reply: () => R;
  paging?: Paging;
  /** `sensitive` routes (those that guess, mint or mail something) are limited more strictly. */
  throttle?: 'sensitive';
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>, A extends 'open' ? null : Caller>): Promise<z.input<R>>;
}

/** Reads leave no audit row; everything else must say which one it leaves. */
type ByMethod =
  | { method: 'GET' }
  | {
      method: Exclude<Method, 'GET'>;
      /** `none` for what hands in data of model calls, which is no administration. */
      audit: { resource: AuditResource; action: AuditAction } | 'none';
      /** False for the few handlers with slow work in them (password hashing): they write inside `call.commit`. */
      atomic?: boolean;
    };

/** An endpoint whose types have done their work; the kernel treats all alike. */
export type Endpoint = Omit<Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType, Access>, 'handle'> &
  ByMethod & { handle(call: Call<unknown, unknown, unknown, Caller | null>): Promise<unknown> };

export function endpoint<
  const A extends Access,
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodType = z.ZodType<Record<string, never>>,
  B extends z.ZodType = z.ZodType<Record<string, never>>,
  R extends z.ZodType = z.ZodType<Record<string, never>>,
>(declaration: Declaration<P, Q, B, R, A> & ByMethod): Endpoint {
  const { params, query, body, reply } = declaration;
  const schemas = {
    ...(params && { params: lazy(params) }),
    ...(query && { query: lazy(query) }),
    ...(body && { body: lazy(body) }),
    reply: lazy(reply),
  };
  return { ...declaration, ...schemas };
}

/** A resource of the control plane: its folder exports one of these. */
export interface Resource {
  name: string;
  endpoints: readonly Endpoint[];
  dependants?: readonly Dependant[];
  /** What is written there holds addresses that the service calls later. */
  savesAddresses?: true;
}
