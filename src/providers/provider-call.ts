/** One of the calls that an operation in steps makes at its provider. */
import type { Authentication } from './authentication.ts';
import type { JsonObject } from './call.ts';
import type { EncodedBody } from './encoded-body.ts';

/** A call that is one of several that an operation takes. */
export interface ProviderCall {
  method: string;
  /** Below the provider's address; or a full address, such as one that the provider answered with. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: JsonObject | EncodedBody;
  /** An address that is signed by itself gets no credential of ours. */
  bare?: boolean;
  /** For a call to another service of the same cloud. */
  authentication?: Authentication;
  /** Statuses besides 2xx that the operation reads itself. */
  accepts?: readonly number[];
}
