/** Where a request goes: the interface that the agent's card names for its binding and generation, or the path below the agent's address. */
import type { AgentInterface, Binding } from '../catalog/agents/card.ts';
import type { Generation } from './operations.ts';
import { writtenPath } from './path.ts';

const originOf = (url: string): string => URL.parse(url)?.origin ?? '';

/** Credentials of an integration go to the origin that it was registered with, wherever a card points. */
function usable(interfaces: readonly AgentInterface[], base: string, binding: Binding): AgentInterface[] {
  const origin = originOf(base);
  return interfaces.filter((one) => one.binding === binding && originOf(one.url) === origin);
}

function interfaceFor(
  interfaces: readonly AgentInterface[],
  base: string,
  binding: Binding,
  generation: Generation | null,
): string {
  const offered = usable(interfaces, base, binding);
  const fitting = offered.find(({ version }) => generation !== null && version?.startsWith(generation));
  return ((fitting ?? offered[0])?.url ?? base).replace(/\/+$/, '');
}

interface Asked {
  base: string;
  interfaces: readonly AgentInterface[];
  segments: readonly string[];
  query: string;
  generation: Generation | null;
}

/** A message to the agent's own address goes where its card says; one to a path below it goes there. */
export function rpcTarget({ base, interfaces, segments, query, generation }: Asked): string {
  if (segments.length > 0) return base + writtenPath(segments) + query;
  return interfaceFor(interfaces, base, 'JSONRPC', generation) + query;
}

/** `before`: what stands before the operation's own path; null for paths that are none of the protocol's. */
export function httpTarget({ base, interfaces, segments, query, generation }: Asked, before: string | null): string {
  const path = writtenPath(segments);
  if (before === null || namesInterface(base, before, interfaces)) return base + path + query;
  return interfaceFor(interfaces, base, 'HTTP+JSON', generation) + path + query;
}

/** Whoever knows the agent's own paths may use them. */
const namesInterface = (base: string, before: string, interfaces: readonly AgentInterface[]): boolean =>
  before !== '' && interfaces.some(({ url }) => url.replace(/\/+$/, '') === `${base}/${before}`.replace(/\/+$/, ''));
