/** What the SCIM protocol answers when it refuses: one shape, and a `scimType` where RFC 7644 has one. */
import type { ApiError } from '../../../http/errors.ts';

type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, scimType: ScimType | null, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

export const invalidFilter = (detail: string) => new ScimError(400, 'invalidFilter', detail);
export const invalidSyntax = (detail: string) => new ScimError(400, 'invalidSyntax', detail);
export const invalidPath = (detail: string) => new ScimError(400, 'invalidPath', detail);
export const invalidValue = (detail: string) => new ScimError(400, 'invalidValue', detail);
export const noTarget = (detail: string) => new ScimError(400, 'noTarget', detail);
export const mutability = (detail: string) => new ScimError(400, 'mutability', detail);
export const notUnique = (detail: string) => new ScimError(409, 'uniqueness', detail);
export const unknownResource = (detail: string) => new ScimError(404, null, detail);

/** A refusal of the administration service in the words of the protocol. */
export function scimErrorOf(error: ApiError): ScimError {
  const { status, message, headers } = error;
  const type = status === 400 ? 'invalidValue' : status === 409 ? 'uniqueness' : null;
  return new ScimError(status, type, message, { ...headers });
}

export function scimErrorResponse(error: ScimError, headers: Headers): Response {
  for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(error.status),
    ...(error.scimType && { scimType: error.scimType }),
    detail: error.message,
  };
  return new Response(JSON.stringify(body), { status: error.status, headers });
}
