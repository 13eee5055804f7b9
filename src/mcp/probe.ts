/** Asks an upstream who it is and what it offers, for tests and syncs. */
import type { Discovery } from '../catalog/mcp/discovery.ts';
import type { McpProbe, ProbeResult } from '../catalog/mcp/probe.ts';
import type { McpUpstream } from '../catalog/mcp/server.ts';
import type { McpMetadata } from '../catalog/mcp/types.ts';
import { version } from '../version.ts';
import { McpError } from './errors.ts';
import { listAll, UpstreamRefusal } from './lists.ts';
import type { UpstreamIdentity } from './principal.ts';
import { type ListMethod, listMethods } from './protocol/versions.ts';
import type { ClientFacts, Link, ServerFacts } from './upstream/link.ts';
import type { Opener } from './upstream/open.ts';

const timeoutMs = 10_000;

export const ourselves: ClientFacts = { info: { name: 'gw', version }, capabilities: {} };

export const plainIdentity = (userId: string | null): UpstreamIdentity => ({
  key: userId ?? 'shared',
  userId,
  claims: {},
  bearer: null,
  origin: null,
  headers: {},
});

export function createProbe(opener: Opener, { revoke, now }: { revoke: McpProbe['revoke']; now(): number }): McpProbe {
  const discover = async (upstream: McpUpstream, userId: string | null): Promise<Discovery> => {
    const link = await opener.open({ upstream, identity: plainIdentity(userId), client: ourselves, era: 'stateless' });
    try {
      if (link.era === 'session') {
        await link.send({ kind: 'notification', method: 'notifications/initialized', params: {} });
      }
      return { metadata: metadataOf(link.facts), lists: await listsOf(link) };
    } finally {
      // It is read; how it takes our leave concerns nobody.
      link.close().catch(() => undefined);
    }
  };

  return {
    revoke,
    async probe(upstream, userId): Promise<ProbeResult> {
      const startedAt = now();
      const elapsed = () => Math.round(now() - startedAt);
      try {
        const discovery = await within(timeoutMs, discover(upstream, userId));
        const serverName = discovery.metadata?.name ?? null;
        return { success: true, statusCode: 200, responseTimeMs: elapsed(), serverName, discovery };
      } catch (fault) {
        const error = told(fault);
        const signIn =
          upstream.authType === 'oauth_auto' &&
          fault instanceof McpError &&
          (fault.kind === 'upstream_unauthorized' || fault.kind === 'authorization_required');
        if (signIn) {
          return {
            success: true,
            statusCode: 401,
            responseTimeMs: elapsed(),
            serverName: null,
            discovery: null,
            error: 'The server answers; each person must sign in before using it',
          };
        }
        return {
          success: false,
          statusCode: fault instanceof McpError ? fault.status : null,
          responseTimeMs: elapsed(),
          error,
        };
      }
    },
  };
}

const told = (fault: unknown): string =>
  fault instanceof McpError || fault instanceof UpstreamRefusal ? fault.message : 'the server could not be asked';

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new McpError('upstream_timeout', `the server did not answer within ${ms} ms`)),
    ms,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The lists that the upstream says it has. */
export async function listsOf(link: Link): Promise<Discovery['lists']> {
  const lists: Discovery['lists'] = {};
  for (const method of Object.keys(listMethods) as ListMethod[]) {
    const { type, capability } = listMethods[method];
    if (link.facts.capabilities[capability] === undefined) continue;
    try {
      lists[type] = (await listAll(link, method, { params: {} })).items;
    } catch (fault) {
      // A server with resources need not know templates.
      if (!(fault instanceof UpstreamRefusal)) throw fault;
    }
  }
  return lists;
}

export function metadataOf({ serverInfo, protocolVersion, instructions, capabilities }: ServerFacts): McpMetadata {
  const text = (name: string): string | undefined => {
    const value = serverInfo[name];
    return typeof value === 'string' ? value.slice(0, 2_048) : undefined;
  };
  const known = {
    name: text('name'),
    version: text('version'),
    title: text('title'),
    description: text('description'),
    website_url: text('websiteUrl'),
    protocol_version: protocolVersion,
    instructions: instructions?.slice(0, 16_384),
    capability_flags: capabilities,
    icons: Array.isArray(serverInfo.icons) ? serverInfo.icons.slice(0, 20) : undefined,
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}
