/** What the console shows of a notice: enough to know what was said, never what would let the reader act as its recipient. */

const credentialName = /(key|code|token|secret|password)$/i;
const linkName = /link$/i;
const hidden = '****';

export const showFields = (fields: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, showField(name, value)]));

function showField(name: string, value: string): string {
  if (linkName.test(name)) return showLink(value);
  return credentialName.test(name) ? showCredential(value) : value;
}

/** The last part of a link's path and its query are where tokens stand. */
function showLink(link: string): string {
  if (!URL.canParse(link)) return hidden;
  const url = new URL(link);
  return `${url.origin}${url.pathname.replace(/[^/]*$/, hidden)}`;
}

/** Its ends tell one long key from another; of a short code they would tell too much. */
const showCredential = (value: string): string =>
  value.length < 20 && !value.includes('*') ? hidden : `${value.slice(0, 2)}${hidden}${value.slice(-2)}`;
