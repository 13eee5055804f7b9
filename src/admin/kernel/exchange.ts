/** One call as every route knows it: who is at the other end, and by which address they reached us. */
import type { ClientAddress } from '../../http/client-address.ts';
import type { Exchange } from './endpoint.ts';

export function exchangeOf(
  request: Request,
  url: URL,
  client: ClientAddress,
  requestId: string,
  publicUrl: string | null,
): Exchange {
  const { headers } = request;
  const forwarded = client.viaTrustedProxy ? headers.get('x-forwarded-proto')?.split(',')[0]?.trim() : undefined;
  const scheme = forwarded || url.protocol.slice(0, -1);
  return {
    requestId,
    clientIp: client.ip,
    country: client.viaTrustedProxy ? headers.get('cf-ipcountry') : null,
    origin: publicUrl ?? `${scheme}://${headers.get('host') || url.host}`,
    headers,
  };
}
