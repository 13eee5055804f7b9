/** A chat stream as its client reads it to the end. */

export interface ChatStream {
  status: number;
  text: string;
  done: boolean;
  error: { code: string; type: string; message: string } | undefined;
  raw: string;
  headers: Headers;
}

/** With `until`, tells as soon as that text has arrived. */
export async function readChatStream(response: Response, until?: { text: string; seen(): void }): Promise<ChatStream> {
  const raw = until ? await readPast(response, until.text, until.seen) : await response.text();
  const data = raw.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []));
  const parsed = data.filter((item) => item !== '[DONE]').map((item) => JSON.parse(item));
  return {
    status: response.status,
    text: parsed.map((chunk) => chunk.choices?.[0]?.delta?.content ?? '').join(''),
    done: data.at(-1) === '[DONE]',
    error: parsed.find((chunk) => chunk.error)?.error,
    raw,
    headers: response.headers,
  };
}

/** Reads a stream, calls `seen` as soon as a text was in it, and answers the whole. */
export async function readPast(response: Response, text: string, seen: () => void): Promise<string> {
  let read = '';
  for await (const chunk of response.body ?? []) {
    const before = read.includes(text);
    read += new TextDecoder().decode(chunk);
    if (!before && read.includes(text)) seen();
  }
  return read;
}
