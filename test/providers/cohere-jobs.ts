/** Cohere's datasets and embed jobs: texts are looked at before they can be used, and their vectors come as Avro. */
import { deflateRawSync } from 'node:zlib';
import type { Json } from '../harness.ts';
import { refused, vectorOf } from './cohere.ts';
import { type Behaviour, bytes, json, type ReceivedCall } from './simulated.ts';

interface Kept {
  datasets: Map<string, Json>;
  jobs: Map<string, Json>;
}

const long = (value: number): Buffer => {
  const out: number[] = [];
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  return Buffer.from([...out, rest]);
};
const text = (value: string): Buffer => Buffer.concat([long(Buffer.byteLength(value)), Buffer.from(value)]);
const float = (value: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeFloatLE(value);
  return out;
};

const vectors = {
  type: 'record',
  name: 'vectors',
  fields: [{ name: 'float', type: { type: 'array', items: 'float' } }],
};
const schema = {
  type: 'record',
  name: 'row',
  fields: [
    { name: 'text', type: 'string' },
    { name: 'custom_id', type: ['null', 'string'] },
    { name: 'embeddings', type: vectors },
  ],
};

const avroRow = ({ text: said, custom_id }: Json): Buffer => {
  const vector = vectorOf(said);
  return Buffer.concat([text(said), long(1), text(custom_id), long(vector.length), ...vector.map(float), long(0)]);
};

const sync = Buffer.alloc(16, 7);
const block = (rows: readonly Json[], pack: (block: Buffer) => Buffer): Buffer => {
  const packed = pack(Buffer.concat(rows.map(avroRow)));
  return Buffer.concat([long(rows.length), long(packed.length), packed, sync]);
};

/** Each row is a block of its own. */
export function avroFile(rows: readonly Json[], codec = 'deflate'): Buffer {
  const pack = codec === 'deflate' ? (content: Buffer) => deflateRawSync(content) : (content: Buffer) => content;
  const head = { 'avro.schema': JSON.stringify(schema), 'avro.codec': codec };
  const entries = Object.entries(head).flatMap(([name, value]) => [text(name), text(value)]);
  return Buffer.concat([
    Buffer.from('Obj\u0001', 'latin1'),
    ...[long(entries.length / 2), ...entries, long(0), sync],
    ...rows.map((row) => block([row], pack)),
  ]);
}

const dataset = (id: string, more: object) => ({
  id,
  name: 'rows.jsonl',
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
  dataset_type: 'embed-input',
  validation_status: 'processing',
  ...more,
});

export function cohereJobs(key: string): { api: Behaviour; kept: Kept } {
  const kept: Kept = { datasets: new Map(), jobs: new Map() };
  const api: Behaviour = (call, response) => answerOf(call, key, kept)(call, response);
  return { api, kept };
}

function answerOf(call: ReceivedCall, key: string, kept: Kept): Behaviour {
  const { pathname, searchParams } = new URL(call.path, 'http://cohere.invalid');
  const signed = /^\/signed\/(.+)$/.exec(pathname)?.[1];
  if (signed) return call.headers.authorization ? refused(403, 'one signature is enough') : partOf(kept, signed);
  if (call.headers.authorization !== `Bearer ${key}`) return refused(401, 'invalid api token');
  const [, kind, id, verb] = /^\/v1\/(datasets|embed-jobs)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
  if (kind === 'datasets') return datasetsAnswer(call, kept, id, searchParams);
  return kind === 'embed-jobs' ? jobsAnswer(call, kept, id, verb) : refused(404, `${pathname} not found`);
}

const partOf = ({ datasets }: Kept, id: string): Behaviour =>
  bytes(200, avroFile(datasets.get(id)?.rows ?? [], datasets.get(id)?.codec), { 'content-type': 'application/avro' });

function datasetsAnswer(
  call: ReceivedCall,
  { datasets }: Kept,
  id: string | undefined,
  query: URLSearchParams,
): Behaviour {
  if (call.method === 'POST') {
    const name = /name="data"; filename="([^"]+)"/.exec(call.body.toString())?.[1];
    if (query.get('type') !== 'embed-input' || !name) return refused(400, 'invalid request: type or data is missing');
    const lines = call.body.toString().match(/^\{.*\}$/gm) ?? [];
    const made = `ds-${datasets.size + 1}`;
    datasets.set(made, { ...dataset(made, { name: query.get('name') }), rows: lines.map((line) => JSON.parse(line)) });
    return json(200, { id: made });
  }
  const shown = ({ rows: _, codec: __, ...found }: Json): Json => found;
  if (id === undefined) return json(200, { datasets: [...datasets.values()].map(shown) });
  const found = datasets.get(id);
  if (!found) return refused(404, `dataset ${id} not found`);
  if (call.method === 'DELETE') return datasets.delete(id) ? json(200, {}) : refused(404, 'gone');
  const parts = [{ id: 'p', name: 'part', url: `http://${call.headers.host}/signed/${id}`, size_bytes: 64 }];
  const looked = { ...found, ...(found.validation_status === 'processing' && { validation_status: 'validated' }) };
  datasets.set(id, looked);
  // A slow one is still being looked at when one asks first.
  return json(200, { dataset: { ...shown(found.name.startsWith('slow') ? found : looked), dataset_parts: parts } });
}

function jobsAnswer(
  { method, json: body }: ReceivedCall,
  { datasets, jobs }: Kept,
  id?: string,
  verb?: string,
): Behaviour {
  const found = jobs.get(id ?? '');
  if (verb === 'cancel') {
    jobs.set(id ?? '', { ...found, status: 'cancelling' });
    return bytes(200, '{}', { 'content-type': 'application/json' });
  }
  if (method === 'POST') {
    const input = datasets.get(body.dataset_id);
    if (input?.validation_status !== 'validated') return refused(400, 'invalid request: dataset is not validated');
    if (!body.model || !body.input_type) return refused(400, 'invalid request: model and input_type are required');
    const job_id = `job-${jobs.size + 1}`;
    datasets.set(`out-${job_id}`, dataset(`out-${job_id}`, { dataset_type: 'embed-result', rows: input.rows }));
    jobs.set(job_id, {
      job_id,
      status: 'processing',
      created_at: '2026-01-02T03:04:05Z',
      input_dataset_id: body.dataset_id,
      model: body.model,
      truncate: body.truncate ?? 'END',
    });
    return json(202, { job_id });
  }
  if (id === undefined) return json(200, { embed_jobs: [...jobs.values()] });
  return found ? json(200, found) : refused(404, `job ${id} not found`);
}
