/** OpenAI's files and batches, as far as a batch needs them: uploads are kept, a batch ends when the test says so, and nothing that was not uploaded is found. */
import type { Json } from '../harness.ts';
import { type Behaviour, bytes, json, type ReceivedCall } from './simulated.ts';

const failure = (status: number, message: string) =>
  json(status, { error: { message, type: 'invalid_request_error', param: null, code: null } });

const created = 1_767_225_600;

export class OpenAiBatches {
  readonly files = new Map<string, { purpose: string; content: string }>();
  readonly batches = new Map<string, Json>();
  /** What the next calls of a kind (`POST /batches`) do in place of the ordinary; each once. */
  readonly instead = new Map<string, Behaviour>();

  readonly behaviour: Behaviour = async (call, response) => {
    const [path = ''] = call.path.replace(/^\/(?:v1|openai)/, '').split('?');
    const name = `${call.method} ${path}`;
    const once = this.instead.get(name);
    this.instead.delete(name);
    return (once ?? this.#route(call, path))(call, response);
  };

  /** Ids of two accounts are never the same. */
  readonly #mark = Bun.randomUUIDv7().replaceAll('-', '');

  /** Of the nth batch. */
  readonly id = (nth: number): string => `batch_${this.#mark}${nth}`;

  /** The rows that a batch was given. */
  rows(batchId: string): Json[] {
    return linesOf(this.files.get(this.batches.get(batchId)?.input_file_id)?.content ?? '');
  }

  /** Every row is answered, in another order than it was asked. */
  end(batchId: string, answer: (row: Json) => Json, status = 'completed'): void {
    const lines = this.rows(batchId)
      .map((row) => JSON.stringify(answer(row)))
      .reverse();
    const batch = this.batches.get(batchId);
    const fileId = this.keep('batch_output', lines.join('\n'));
    this.batches.set(batchId, { ...batch, status, output_file_id: fileId });
  }

  keep(purpose: string, content: string): string {
    const id = `file-${this.#mark}${this.files.size + 1}`;
    this.files.set(id, { purpose, content });
    return id;
  }

  #route(call: ReceivedCall, path: string): Behaviour {
    if (!(call.headers.authorization?.startsWith('Bearer ') || call.headers['api-key']))
      return failure(401, 'You did not provide an API key.');
    const [, kind = '', id = '', part = ''] = path.split('/');
    if (kind === 'files') return this.#files(call, id, part);
    return kind === 'batches' ? this.#batches(call, id, part) : failure(404, `Invalid URL (${call.method} ${path})`);
  }

  #files(call: ReceivedCall, id: string, part: string): Behaviour {
    if (call.method === 'POST' && id === '') return async (_, response) => (await this.#upload(call))(call, response);
    const file = this.files.get(id);
    if (!file || call.method !== 'GET') return failure(404, `No such File object: ${id}`);
    if (part === 'content') return bytes(200, file.content, { 'content-type': 'application/octet-stream' });
    return json(200, fileOf(id, file));
  }

  async #upload(call: ReceivedCall): Promise<Behaviour> {
    const form = await new Response(new Uint8Array(call.body), {
      headers: { 'content-type': call.headers['content-type'] ?? '' },
    }).formData();
    const [file, purpose] = [form.get('file'), form.get('purpose')];
    if (!(file instanceof Blob) || typeof purpose !== 'string') return failure(400, "'file' is a required property");
    const id = this.keep(purpose, await file.text());
    return json(200, fileOf(id, { purpose, content: await file.text() }));
  }

  #batches(call: ReceivedCall, id: string, part: string): Behaviour {
    if (call.method === 'POST' && id === '') return this.#create(call.json);
    if (call.method === 'GET' && id === '')
      return json(200, { object: 'list', data: [...this.batches.values()].reverse(), has_more: false });
    const batch = this.batches.get(id);
    if (!batch) return failure(404, `No batch found with id '${id}'.`);
    if (call.method !== 'POST') return json(200, batch);
    if (part !== 'cancel') return failure(404, 'Invalid URL');
    this.batches.set(id, { ...batch, status: 'cancelling' });
    return json(200, this.batches.get(id));
  }

  #create(asked: Json): Behaviour {
    const known = ['input_file_id', 'endpoint', 'completion_window', 'metadata', 'output_expires_after'];
    const unknown = Object.keys(asked).find((name) => !known.includes(name));
    if (unknown) return failure(400, `Unknown parameter: '${unknown}'.`);
    const file = this.files.get(asked.input_file_id);
    if (file?.purpose !== 'batch') return failure(400, `Invalid file id ${asked.input_file_id}`);
    if (asked.completion_window !== '24h') return failure(400, "Invalid value: 'completion_window'.");
    const fault = linesOf(file.content).find(
      ({ url, method, custom_id }) => url !== asked.endpoint || method !== 'POST' || !custom_id,
    );
    if (fault) return failure(400, 'The rows do not ask for the endpoint of the batch.');
    const id = this.id(this.batches.size + 1);
    this.batches.set(id, {
      id,
      object: 'batch',
      endpoint: asked.endpoint,
      errors: null,
      input_file_id: asked.input_file_id,
      completion_window: '24h',
      status: 'in_progress',
      output_file_id: null,
      error_file_id: null,
      created_at: created,
      expires_at: created + 86_400,
      request_counts: { total: 0, completed: 0, failed: 0 },
      metadata: asked.metadata ?? null,
    });
    return json(200, this.batches.get(id));
  }
}

const fileOf = (id: string, { purpose, content }: { purpose: string; content: string }) => ({
  id,
  object: 'file',
  bytes: content.length,
  created_at: created,
  filename: `${id}.jsonl`,
  purpose,
  status: 'processed',
});

const linesOf = (content: string): Json[] =>
  content
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** A row of an output file. */
export const answered = (row: Json, body: Json, status_code = 200): Json => ({
  id: `batch_req_${row.custom_id}`,
  custom_id: row.custom_id,
  response: { status_code, request_id: `req_${row.custom_id}`, body },
  error: null,
});
