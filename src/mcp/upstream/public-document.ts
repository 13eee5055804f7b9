/** Documents that companies publish about their sign-in: key sets, discovery documents, metadata. */
import type { UpstreamHttp } from './http.ts';

const limits = { bytes: 1024 * 1024, ms: 10_000 };

/** The text of the document; fails in words that may be told to whoever runs the organisation. */
export const fetchPublicDocument =
  (http: Pick<UpstreamHttp, 'fetch'>) =>
  async (url: string): Promise<string> => {
    const { status, text } = await http.fetch(
      { url, method: 'GET', headers: { accept: 'application/json, application/xml;q=0.9, */*;q=0.5' }, body: null },
      limits,
    );
    if (status !== 200) throw new Error(`the address answered with status ${status}`);
    return text;
  };
