/** A browser without a screen: follows redirects with the cookies of each host. */

interface Visitor {
  /** Where the person is signed in to the gateway. */
  gatewayUrl: string;
  session: string;
  /** Who the person is at the upstream's authorization server. */
  person: string;
}

/** The page at which a chain of redirects ends. */
export async function browse(start: string, { gatewayUrl, session, person }: Visitor): Promise<Response> {
  const jar = new Map<string, Map<string, string>>();
  let address = start;
  for (let hop = 0; hop < 15; hop++) {
    const { host } = new URL(address);
    const own = jar.get(host) ?? new Map<string, string>();
    jar.set(host, own);
    const ours = gatewayUrl.includes(host) ? [`gw_session=${session}`] : [];
    const cookie = [...ours, ...[...own].map(([name, value]) => `${name}=${value}`)].join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie, 'x-person': person } });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      own.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (!location) return response;
    address = new URL(location, address).href;
  }
  throw new Error('The browser was sent around in a circle');
}

/** The address that a refusal asks the person to open. */
export const signInAddressIn = (fault: string): string | null =>
  /authorization_url: (\S+)/.exec(fault)?.[1]?.replace(/["\\,}].*$/, '') ?? null;
