/** The first segments below `/v1` and `/v2` that belong to this service, built or not: what is meant for it never goes to a provider. */

/** Served by older releases of the reference product; they are gone, whatever else their path may look like. */
const retired = new Set(['/users/firebase-custom-token', '/utils/oidc-client-id']);

/** A provider's endpoint of such a name is reached through `/proxy/`. */
export const reservedSegments: ReadonlySet<string> = new Set([
  '.well-known',
  'admin',
  'agent',
  'agent-integrations',
  'agent-servers',
  'analytics',
  'api-keys',
  'api_keys',
  'audit-logs',
  'auth',
  'collections',
  'configs',
  'dp',
  'feedback',
  'gateway',
  'guardrails',
  'health',
  'integration-models',
  'integrations',
  'internal',
  'invites',
  'labels',
  'logs',
  'mcp',
  'mcp-integrations',
  'mcp-servers',
  'metrics',
  'model-configs',
  'notices',
  'oauth',
  'organisation',
  'organisations',
  'otel',
  'plugins',
  'policies',
  'cache',
  'webhooks',
  'pricing',
  'prompt',
  'prompts',
  'providers',
  'ready',
  'reference',
  'scim',
  'secret-references',
  'users',
  'utils',
  'v0.1',
  'virtual-keys',
  'workspace-exclusions',
  'workspaces',
]);

/** SDKs may add the version to an address that has it already. */
const versioned = /^\/v[12](?:\/v1)?(\/.*)$/;

const below = (pathname: string): string => versioned.exec(pathname)?.[1]?.replace(/\/$/, '') ?? '';

export const isRetired = (pathname: string): boolean => retired.has(below(pathname));

/** Also in other letters, encoded, or behind a doubled slash: a provider might read them as the same. */
export const isReserved = (pathname: string): boolean => reservedSegments.has(firstSegment(below(pathname)));

function firstSegment(path: string): string {
  const first = /^\/*([^/\\]*)/.exec(path.replace(/%2f/gi, '/'))?.[1] ?? '';
  const plain = first.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return plain.replace(/;.*$/, '').toLowerCase();
}

/** What a caller who asked for a path of ours that does not exist is told. */
export function unknownRoute(method: string, pathname: string, known: Iterable<string> = []): string {
  const meant = nearest(pathname, known) ?? nearestSegment(pathname);
  return `No route ${method} ${pathname.slice(0, longestShown)}${meant ? `; did you mean ${meant}?` : '.'} See /docs`;
}

const longestShown = 200;

function nearest(pathname: string, known: Iterable<string>): string | null {
  const asked = pathname.replace(/\/$/, '');
  let best: { path: string; distance: number } | null = null;
  for (const path of known) {
    const distance = distanceOf(asked, path);
    if (distance < (best?.distance ?? mostTypos + 1)) best = { path, distance };
  }
  return best?.path ?? null;
}

function nearestSegment(pathname: string): string | null {
  const asked = firstSegment(below(pathname));
  let best: { segment: string; distance: number } | null = null;
  for (const segment of reservedSegments) {
    const distance = editsBetween(asked, segment);
    if (distance > 0 && distance < (best?.distance ?? mostTypos + 1)) best = { segment, distance };
  }
  return best ? `${pathname.slice(0, 3)}/${best.segment}` : null;
}

const mostTypos = 2;

/** Segment by segment; a parameter stands for anything. */
function distanceOf(asked: string, route: string): number {
  const [askedParts, routeParts] = [asked.split('/'), route.split('/')];
  if (askedParts.length !== routeParts.length) return Number.POSITIVE_INFINITY;
  return routeParts.reduce(
    (sum, part, index) => sum + (part.startsWith(':') ? 0 : editsBetween(askedParts[index] ?? '', part)),
    0,
  );
}

/** Letters to add, drop or replace; beyond a few it does not matter how many. */
function editsBetween(one: string, other: string): number {
  if (one === other) return 0;
  if (Math.abs(one.length - other.length) > mostTypos) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
