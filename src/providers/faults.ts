/** What can be wrong with a request for a provider, and what a provider says is wrong. */
import { UntracedError } from '../untraced-error.ts';

import { parsed } from './json.ts';

/** The request asks for something that the provider cannot do, or is not what the route accepts: answered with 400, naming the field. */
export class RequestFault extends UntracedError {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The request names a thing that is not there for this caller: answered with 404. */
export class MissingFault extends RequestFault {
  readonly kind: 'file' | 'batch';

  constructor(kind: 'file' | 'batch', field: string) {
    super(field, `there is no such ${kind} in this workspace`);
    this.kind = kind;
  }
}

/** The provider refused or failed: its status, and its own words. */
export class ProviderFault extends UntracedError {
  readonly status: number;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;

  constructor(
    status: number,
    message: string,
    more: { type?: string | null; code?: string | null; param?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.type = more.type ?? null;
    this.code = more.code ?? null;
    this.param = more.param ?? null;
  }
}

/** JSON may be nested deeper than anything that walks through it can follow. */
export const isTooDeep = (fault: unknown): boolean =>
  fault instanceof RangeError && fault.message.startsWith('Maximum call stack');

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null;

/** A provider's error answer, in any of the shapes that are in use. What has no shape is quoted. */
export function readFault(status: number, bytes: Uint8Array): ProviderFault {
  const plain = new TextDecoder().decode(bytes.subarray(0, longestQuote)).trim();
  const body = parsed(new TextDecoder().decode(bytes));
  if (body === undefined) return new ProviderFault(status, plain || `status ${status} without a body`);
  return faultIn(status, body) ?? new ProviderFault(status, plain);
}

const longestQuote = 2_000;

/** The fault that a body tells of; null when it tells of none. */
export function faultIn(status: number, body: unknown): ProviderFault | null {
  if (Array.isArray(body)) return body.length > 0 ? faultIn(status, body[0]) : null;
  if (!isObject(body)) return null;
  if (isObject(body.error)) return fromObject(status, body.error);
  const message =
    text(body.error) ??
    messageIn(body.message) ??
    text(body.Message) ??
    messageIn(body.detail) ??
    faultString(body.fault) ??
    listed(body.errors) ??
    text(body['html-message']) ??
    text(body.err_msg);
  if (message === null) return null;
  return new ProviderFault(status, message, {
    type: text(body.type) ?? text(body.error_type) ?? text(body.__type),
    code: text(body.code) ?? text(body.err_code) ?? text(body.id),
    param: text(body.param),
  });
}

const fromObject = (status: number, error: Fields): ProviderFault =>
  new ProviderFault(status, messageIn(error.message) ?? text(error.error) ?? JSON.stringify(error), {
    type: text(error.type) ?? text(error.status),
    code: text(error.code),
    param: text(error.param),
  });

/** A message may be text, a list of faults by place, or an object that holds one of them. */
function messageIn(value: unknown): string | null {
  if (Array.isArray(value)) return value.length > 0 ? value.map(place).join('; ') : null;
  if (isObject(value)) return messageIn(value.detail) ?? text(value.message) ?? JSON.stringify(value);
  return text(value);
}

function place(entry: unknown): string {
  if (!isObject(entry)) return text(entry) ?? JSON.stringify(entry);
  const message = text(entry.msg) ?? text(entry.message) ?? JSON.stringify(entry);
  return Array.isArray(entry.loc)
    ? `${entry.loc.map((part: unknown) => text(part) ?? JSON.stringify(part)).join('.')}: ${message}`
    : message;
}

const faultString = (fault: unknown): string | null =>
  isObject(fault)
    ? [text(fault.faultstring), text(fault.detail)].filter((part) => part !== null).join(': ') || null
    : null;

const listed = (errors: unknown): string | null =>
  Array.isArray(errors) && errors.length > 0 ? errors.map(place).join('; ') : null;
