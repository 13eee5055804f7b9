/** Fireworks' datasets and supervised fine-tuning jobs, as an account keeps them; and its chat. */
import type { Json } from '../harness.ts';
import { completion } from './openai.ts';
import { type Behaviour, json, type ReceivedCall } from './simulated.ts';

const account = 'accounts/acme';
const refusal = (status: number, code: number, message: string): Behaviour =>
  json(status, { code, message, details: [] });
const unknown = refusal(404, 5, 'not found');
const invalid = (message: string): Behaviour => refusal(400, 3, message);

interface Kept {
  datasets: Map<string, Json>;
  jobs: Map<string, Json>;
}

/** A slow dataset is still being looked at when one asks first. */
export function fireworksApi(key: string): { api: Behaviour; kept: Kept } {
  const kept: Kept = { datasets: new Map(), jobs: new Map() };
  const api: Behaviour = (call, response) => {
    const signed = /^\/signed\/([^/]+)$/.exec(call.path)?.[1];
    if (signed !== undefined) return stored(call, kept, signed)(call, response);
    if (call.headers.authorization !== `Bearer ${key}`) return refusal(401, 16, 'unauthorized')(call, response);
    if (call.path === '/inference/v1/chat/completions')
      return json(200, completion('Hello there.', call.json.model))(call, response);
    const [, kind, id, verb] = /^\/v1\/accounts\/acme\/(\w+)(?:\/([\w-]+))?(?::(\w+))?(?:\?.*)?$/.exec(call.path) ?? [];
    const things = kind === 'datasets' ? kept.datasets : kind === 'supervisedFineTuningJobs' ? kept.jobs : null;
    if (!things || !kind) return unknown(call, response);
    if (verb !== undefined) return uploading(call, kept, id ?? '', verb)(call, response);
    return thingAt(call, things, kind, id, kept)(call, response);
  };
  return { api, kept };
}

function thingAt(
  call: ReceivedCall,
  things: Map<string, Json>,
  kind: string,
  id: string | undefined,
  kept: Kept,
): Behaviour {
  if (call.method === 'POST') return kind === 'datasets' ? newDataset(call, kept) : newJob(call, kept);
  if (id === undefined) return json(200, { [kind]: [...things.values()], nextPageToken: '', totalSize: things.size });
  const thing = things.get(id);
  if (!thing) return unknown;
  if (call.method === 'DELETE') {
    things.delete(id);
    return json(200, {});
  }
  const looked = thing.state === 'CHECKING' ? { ...thing, state: 'READY' } : thing;
  things.set(id, looked);
  return json(
    200,
    thing.displayName?.startsWith('slow') && thing !== looked ? { ...thing, state: 'UPLOADING' } : looked,
  );
}

function newDataset({ json: body }: ReceivedCall, { datasets }: Kept): Behaviour {
  const { datasetId, dataset } = body;
  if (!/^[a-z][a-z0-9-]{0,62}$/.test(datasetId ?? '')) return invalid('dataset_id is invalid');
  if (typeof dataset?.exampleCount !== 'string' || !dataset.userUploaded) return invalid('dataset is invalid');
  const made = {
    ...dataset,
    name: `${account}/datasets/${datasetId}`,
    createTime: '2026-01-02T03:04:05Z',
    state: 'UPLOADING',
    status: { code: 'OK', message: '' },
  };
  datasets.set(datasetId, made);
  return json(200, made);
}

function uploading(call: ReceivedCall, { datasets }: Kept, id: string, verb: string): Behaviour {
  const dataset = datasets.get(id);
  if (!dataset) return unknown;
  if (verb === 'getUploadEndpoint') {
    const [[name, size]] = Object.entries(call.json.filenameToSize) as [[string, string]];
    datasets.set(id, { ...dataset, size });
    return json(200, { filenameToSignedUrls: { [name]: `http://${call.headers.host}/signed/${id}` } });
  }
  if (verb !== 'validateUpload') return unknown;
  if (dataset.content === undefined) return invalid('no file was uploaded');
  const bad = dataset.content.includes('broken');
  const status = bad ? { code: 'INVALID_ARGUMENT', message: 'line 1 is not an example' } : dataset.status;
  datasets.set(id, { ...dataset, status, state: 'CHECKING' });
  return json(200, {});
}

/** The address is signed for its size, and for nobody's key. */
function stored(call: ReceivedCall, { datasets }: Kept, id: string): Behaviour {
  const dataset = datasets.get(id);
  const range = `${dataset?.size},${dataset?.size}`;
  if (call.headers.authorization || call.headers['x-goog-content-length-range'] !== range)
    return json(403, { error: 'SignatureDoesNotMatch' });
  if (call.body.length !== Number(dataset.size)) return json(400, { error: 'EntityTooLarge' });
  datasets.set(id, { ...dataset, content: call.body.toString() });
  return json(200, {});
}

function newJob({ json: body }: ReceivedCall, { datasets, jobs }: Kept): Behaviour {
  const known = (name: unknown) => datasets.has(String(name).replace(`${account}/datasets/`, ''));
  if (!known(body.dataset)) return invalid(`dataset ${body.dataset} not found`);
  if (!/^accounts\/[\w-]+\/models\/[\w.-]+$/.test(body.baseModel ?? '')) return invalid('base_model is invalid');
  const id = `job-${jobs.size + 1}`;
  const made = {
    ...body,
    name: `${account}/supervisedFineTuningJobs/${id}`,
    createTime: '2026-01-02T03:04:05Z',
    state: 'JOB_STATE_CREATING',
    status: { code: 'OK', message: '' },
  };
  jobs.set(id, made);
  return json(200, made);
}
