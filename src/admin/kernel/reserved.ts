/** Paths of the control plane that no endpoint has. They are answered here: what is meant for this service never goes to a provider. */

/** Served by older releases of the reference product; they are gone, whatever else their path may look like. */
const retired = new Set(['/users/firebase-custom-token', '/utils/oidc-client-id']);

/** Below these only identity is administered; a provider's endpoint of such a name is reached through `/proxy/`. */
const ours = new Set(['admin', 'api-keys', 'api_keys', 'audit-logs', 'auth', 'scim', 'users', 'workspaces']);

const versioned = /^\/v[12](\/.*)$/;

const below = (pathname: string): string => versioned.exec(pathname)?.[1]?.replace(/\/$/, '') ?? '';

export const isRetired = (pathname: string): boolean => retired.has(below(pathname));

export const isReserved = (pathname: string): boolean => ours.has(below(pathname).split('/')[1] ?? '');
