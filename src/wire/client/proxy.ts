/** Calls that the environment sends through a proxy. */
import { type Abortable, signalOf } from '../abort.ts';
import { WireFault } from '../fault.ts';
import { answerOf, type WireAnswer } from './answer.ts';
import type { WireCall } from './request.ts';

/** How the URLs begin that a proxy is named for. */
export const proxiedSchemes = (env: Readonly<Record<string, string | undefined>>): string[] =>
  ['http', 'https']
    .filter((scheme) => [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase()].some((name) => env[name]))
    .map((scheme) => `${scheme}:`);

/** The runtime's own client knows how to ask a proxy, and which hosts need none. */
export async function throughProxy(
  { url, pinned, method, headers, unlessSaid, body, upgrade }: WireCall,
  signal: Abortable,
): Promise<WireAnswer> {
  if (upgrade) throw new WireFault('InvalidAnswer', 'no other protocol is spoken through a proxy');
  const address = new URL(url);
  if (pinned) address.hostname = pinned.address.includes(':') ? `[${pinned.address}]` : pinned.address;
  const response = await fetch(address, {
    method,
    headers: { ...unlessSaid, ...headers, ...(pinned && { host: pinned.host }) },
    signal: signalOf(signal),
    redirect: 'manual',
    // Our own deadlines count; the runtime's would end long waits that a config allows.
    timeout: false,
    decompress: false,
    ...(body && { body }),
    ...(pinned && { tls: { serverName: pinned.name } }),
  });
  return answerOf(response);
}
