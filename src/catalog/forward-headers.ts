/** Which of the client's headers a config may have forwarded to the provider, and under which name. */
import { z } from 'zod';

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

/** These would hand a cloud's credentials to whoever answers. */
const metadataHeaders = ['metadata-flavor', 'x-aws-ec2-metadata-token', 'x-google-metadata-request'];
/** These belong to one connection; a copy of them makes a request that two servers read differently. */
const connectionHeaders = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const protectedHeaders = new Set([...metadataHeaders, ...connectionHeaders]);

/** Why a header (in lower case) may not be forwarded, or null when it may. */
export function faultOfForwardedHeader(name: string): string | null {
  if (!headerName.test(name)) return 'is not the name of a header';
  // The gateway's own headers carry its credential; `x-gw-forward-headers` is one of them.
  if (name.startsWith('x-gw-') || protectedHeaders.has(name)) return `${name} may not be forwarded`;
  return null;
}

const forwardable = z
  .string()
  .max(256)
  .toLowerCase()
  .check((context) => {
    const fault = faultOfForwardedHeader(context.value);
    if (fault) context.issues.push({ code: 'custom', input: context.value, message: fault });
  });

const entry = z.preprocess(
  (value) => (typeof value === 'string' ? { from: value, to: value } : value),
  z.strictObject({ from: forwardable, to: forwardable }),
);

/** Names, `{from, to}` pairs, or one object that maps the first to the second. */
export const forwardHeaders = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([from, to]) => ({ from, to }))
      : value,
  z.array(entry).max(100),
);
