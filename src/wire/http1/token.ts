/** What can stand in a head. */

/** The names of headers and methods. */
export const isToken = /^[!#$%&'*+\-.^_`|~\w]+$/;

/** Not text that a header can carry. */
export const unfit = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers that are said by whoever frames the body and holds the connection. */
export const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'content-length',
]);
