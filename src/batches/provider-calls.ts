/** The calls that a batch between guardrails makes of its provider, as ordinary requests of whoever ordered it. */
import { readJson } from '../bounded-json.ts';
import { decode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import { optionsPurpose } from './batches.ts';
import type { ManagedFiles } from './files.ts';
import type { GuardedCalls } from './guarded-calls.ts';
import type { ManagedBatchTable, ProviderBatchTable } from './schema.ts';

/** What the client asked for, and how its provider takes it. */
export interface ProviderOrder {
  /** The body of the client's call, without its rows. */
  body: Record<string, unknown>;
  /** The provider takes the rows with the call that makes the batch. */
  sendsRows: boolean;
  /** It keeps rows and answers as files in OpenAI's form, which can be read as they are. */
  readsFiles: boolean;
  /** The file at the provider that the client named; null where the rows are kept here. */
  providerFileId: string | null;
  /** Headers of the upload of the rows. */
  uploadOptions: Record<string, string>;
}

export const orderPurpose = (batchId: string): string => `provider-batch:${batchId}`;

/** What came of a call: the key that makes it is gone, it may be made again, it is refused for good, or there is an answer. */
export type Called<T> =
  | { kind: 'key gone' }
  | { kind: 'again'; message: string }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'answered'; value: T };

interface Parts {
  vault: Vault;
  files: ManagedFiles;
  guarded: GuardedCalls;
}

const longestCallMs = 240_000;

export class ProviderCalls {
  readonly order: ProviderOrder;
  readonly #parts: Parts;
  readonly #batch: ManagedBatchTable;
  readonly #headers: Record<string, string>;

  constructor(parts: Parts, batch: ManagedBatchTable, { order_sealed }: ProviderBatchTable) {
    const { vault } = parts;
    this.#parts = parts;
    this.#batch = batch;
    this.order = decode<ProviderOrder>(vault.open(order_sealed, orderPurpose(batch.id)));
    const options = decode<Record<string, string>>(vault.open(batch.options, optionsPurpose(batch.id)));
    this.#headers = { ...this.order.uploadOptions, ...options, 'x-gw-trace-id': batch.id };
  }

  get by() {
    const { api_key_id: keyId, token_grant } = this.#batch;
    return { keyId, grant: token_grant && decode(token_grant) };
  }

  /** A row as a request of its own. The host is never dialled. */
  rowRequest(url: string, body: Record<string, unknown>): Request {
    const { stream: _, ...unstreamed } = body;
    return this.#request('POST', url, { 'content-type': 'application/json' }, JSON.stringify(unstreamed));
  }

  upload(fileId: string): Promise<Called<string>> {
    const boundary = `gw${Bun.randomUUIDv7().replaceAll('-', '')}`;
    const filename = `${this.#batch.id}_input.jsonl`;
    const body = streamed(formOf(boundary, filename, this.#parts.files.content(fileId)));
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    return this.#ask(this.#request('POST', '/v1/files', headers, body), idIn);
  }

  create(inputId: string): Promise<Called<Record<string, unknown>>> {
    const body = { ...this.order.body, input_file_id: inputId };
    const headers = { 'content-type': 'application/json' };
    return this.#ask(this.#request('POST', '/v1/batches', headers, JSON.stringify(body)), objectIn);
  }

  /** The newest ones. */
  list(): Promise<Called<Record<string, unknown>>> {
    return this.#ask(this.#request('GET', '/v1/batches?limit=100', {}), objectIn);
  }

  look(id: string): Promise<Called<Record<string, unknown>>> {
    return this.#ask(this.#request('GET', `/v1/batches/${encodeURIComponent(id)}`, {}), objectIn);
  }

  cancel(id: string): Promise<Called<Record<string, unknown>>> {
    return this.#ask(this.#request('POST', `/v1/batches/${encodeURIComponent(id)}/cancel`, {}), objectIn);
  }

  /** Rows as they come. */
  output(id: string): Promise<Called<AsyncIterable<Uint8Array>>> {
    return this.#stream(`/v1/batches/${encodeURIComponent(id)}/output`);
  }

  file(id: string): Promise<Called<AsyncIterable<Uint8Array>>> {
    return this.#stream(`/v1/files/${encodeURIComponent(id)}/content`);
  }

  async #stream(path: string): Promise<Called<AsyncIterable<Uint8Array>>> {
    const response = await this.#parts.guarded.atProvider(this.by, this.#request('GET', path, {}));
    const failed = await failureOf(response);
    return failed ?? { kind: 'answered', value: response?.body ?? new Blob().stream() };
  }

  async #ask<T>(request: Request, read: (text: string) => T | null): Promise<Called<T>> {
    const response = await this.#parts.guarded.atProvider(this.by, request);
    const failed = await failureOf(response);
    if (failed || !response) return failed ?? { kind: 'key gone' };
    const value = read(await response.text());
    return value === null
      ? { kind: 'again', message: 'the provider answered with something else than was asked for' }
      : { kind: 'answered', value };
  }

  #request(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | ReadableStream<Uint8Array>,
  ): Request {
    return new Request(`http://batch.invalid${path}`, {
      method,
      headers: { ...this.#headers, ...headers },
      ...(body !== undefined && { body, duplex: 'half' }),
      signal: AbortSignal.timeout(longestCallMs),
    });
  }
}

/** Null where there is an answer. */
async function failureOf(response: Response | null): Promise<Exclude<Called<never>, { kind: 'answered' }> | null> {
  if (!response) return { kind: 'key gone' };
  const { status } = response;
  if (status < 300) return null;
  const message = messageIn(await response.text());
  return status === 408 || status === 409 || status === 429 || status >= 500
    ? { kind: 'again', message }
    : { kind: 'refused', status, message };
}

const longestMessage = 500;

function messageIn(text: string): string {
  const { error } = objectIn(text) ?? {};
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : text;
  return String(message).slice(0, longestMessage);
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = readJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const idIn = (text: string): string | null => {
  const id = objectIn(text)?.id;
  return typeof id === 'string' && id !== '' ? id : null;
};

async function* formOf(
  boundary: string,
  filename: string,
  content: AsyncIterable<{ text: string }>,
): AsyncGenerator<Uint8Array> {
  const part = `--${boundary}\r\nContent-Disposition: form-data; name=`;
  yield Buffer.from(`${part}"purpose"\r\n\r\nbatch\r\n`);
  yield Buffer.from(`${part}"file"; filename="${filename}"\r\nContent-Type: application/jsonl\r\n\r\n`);
  for await (const { text } of content) yield Buffer.from(text);
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

function streamed(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
