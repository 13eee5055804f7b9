/** The part of a path that belongs to the agent: decoded segment by segment, so that no spelling of it means something else upstream. */
import { AgentError } from './errors.ts';

const prefix = /^\/v1(?:\/v1)?\/agent\/([^/?#]+)([^?#]*)(?:\?([^#]*))?$/;
const refused = /[\p{Cc}/\\;]/u;

export interface AgentPath {
  /** Id or slug. */
  server: string;
  /** Decoded, without empty ones. */
  segments: readonly string[];
  /** As it came, with its question mark, or empty. */
  query: string;
}

/** Null for paths of others. */
export function agentPath(target: string): { server: string; rest: string; query: string } | null {
  const [, server, rest = '', query] = prefix.exec(target) ?? [];
  return server === undefined ? null : { server, rest, query: query ? `?${query}` : '' };
}

/** Throws for what a router upstream might read as another path. */
export function readPath({ server, rest, query }: { server: string; rest: string; query: string }): AgentPath {
  const segments = rest
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);
  if (segments.some((segment) => segment === '.' || segment === '..' || refused.test(segment))) {
    throw new AgentError('invalid_path', 'the path holds a segment that cannot be passed on');
  }
  return { server: decoded(server), segments, query };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new AgentError('invalid_path', 'the path is not written in proper percent-encoding');
  }
}

/** In one spelling. A colon stands for itself: the protocol has it in `message:send`. */
export const writtenPath = (segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment).replaceAll('%3A', ':')}`).join('');
