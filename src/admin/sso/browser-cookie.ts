/** The cookie of the browser that began a sign-in. It opens nothing by itself. */
import type { Exchange } from '../kernel/endpoint.ts';

export const browserCookie = 'gw_sign_in';

const attributes = (exchange: Exchange): string =>
  // A browser drops a Secure cookie that came over plain HTTP, which is how a first start on a laptop is reached.
  `; Path=/; HttpOnly; SameSite=Lax${exchange.origin.startsWith('https:') ? '; Secure' : ''}`;

export const newBrowserCookie = (exchange: Exchange, value: string): string =>
  `${browserCookie}=${value}${attributes(exchange)}; Max-Age=600`;

export const clearBrowserCookie = (exchange: Exchange): string => `${browserCookie}=${attributes(exchange)}; Max-Age=0`;
