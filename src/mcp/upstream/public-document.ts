/** What companies publish about their sign-in, and the calls that it takes: key sets, discovery documents, metadata, tokens. */
import type { UpstreamHttp } from './http.ts';

const limits = { bytes: 1024 * 1024, ms: 10_000 };

/** The web's own fetch for a library that asks on behalf of an organisation, with the checks and bounds of every call outside. */
export const webFetch =
  (http: Pick<UpstreamHttp, 'fetch'>, tenant: string) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const isForm = init.body instanceof URLSearchParams;
    if (isForm && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded');
    const body = isForm || typeof init.body === 'string' ? new TextEncoder().encode(String(init.body)) : null;
    const method = init.method?.toUpperCase() === 'POST' ? 'POST' : 'GET';
    const answer = await http.fetch({ url, method, headers: headers.toJSON(), body, tenant }, limits);
    const told = ['content-type', 'www-authenticate'].flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return new Response(answer.text, { status: answer.status, headers: told });
  };

/** The text of the document; fails in words that may be told to whoever runs the organisation. */
export const fetchPublicDocument =
  (http: Pick<UpstreamHttp, 'fetch'>) =>
  async (url: string, tenant: string): Promise<string> => {
    const { status, text } = await http.fetch(
      {
        url,
        method: 'GET',
        headers: { accept: 'application/json, application/xml;q=0.9, */*;q=0.5' },
        body: null,
        tenant,
      },
      limits,
    );
    if (status !== 200) throw new Error(`the address answered with status ${status}`);
    return text;
  };
