/** Masks what looks like a credential among the headers that somebody hands in. */

const secretName = /auth|key|token|secret|cookie|credential|password|signature|session/i;

export const maskedHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), secretName.test(name) ? '****' : value]),
  );
