/** An S3-compatible store for tests: a real HTTP server that checks signatures, keeps objects in memory, and can be away. */
import type { ServerResponse } from 'node:http';
import type { ObjectStoreSettings } from '../../src/logs/objects/store.ts';
import { faultOfSignature } from '../providers/aws-signature.ts';
import { type ReceivedCall, startProvider } from '../providers/simulated.ts';

export interface SimulatedObjectStore {
  settings: ObjectStoreSettings;
  /** By path. */
  objects: Map<string, { text: string; at: Date }>;
  /** While it is away every call is answered with 503. */
  isAway: boolean;
  /** Calls that were refused for their signature. */
  readonly refused: number;
  stop(): Promise<void>;
}

const bucket = 'logs-of-calls';
const keys = { accessKeyId: 'AKIAOBJECTS', secretAccessKey: 'object-store-secret' };
const region = 'eu-west-1';

export async function startObjectStore(): Promise<SimulatedObjectStore> {
  const objects: SimulatedObjectStore['objects'] = new Map();
  let refused = 0;
  const answer = (call: ReceivedCall, response: ServerResponse): void => {
    const { status, body } = replyTo(call);
    response.writeHead(status, { 'content-type': body?.startsWith('<') ? 'application/xml' : 'application/json' });
    response.end(body);
  };
  const replyTo = (call: ReceivedCall): Reply => {
    if (store.isAway) return failure(503, 'SlowDown', 'Please reduce your request rate.');
    const fault = faultOfSignature(call, keys, { service: 's3', region });
    if (fault) {
      refused += 1;
      return failure(403, 'SignatureDoesNotMatch', fault);
    }
    const { pathname, searchParams } = new URL(call.path, 'http://store');
    if (pathname !== `/${bucket}` && !pathname.startsWith(`/${bucket}/`)) {
      return failure(404, 'NoSuchBucket', 'The specified bucket does not exist');
    }
    const path = decodeURIComponent(pathname.slice(bucket.length + 2));
    if (path === '') return { status: 200, body: listing(searchParams, objects) };
    const found = objects.get(path);
    if (call.method === 'PUT') objects.set(path, { text: call.body.toString(), at: new Date() });
    if (call.method === 'DELETE') objects.delete(path);
    if (call.method !== 'GET') return { status: call.method === 'DELETE' ? 204 : 200 };
    return found ? { status: 200, body: found.text } : failure(404, 'NoSuchKey', 'The specified key does not exist.');
  };
  const server = await startProvider(answer);
  const store: SimulatedObjectStore = {
    settings: { bucket, endpoint: new URL(server.url).origin, region, ...keys, sessionToken: null },
    objects,
    isAway: false,
    get refused() {
      return refused;
    },
    stop: server.stop,
  };
  return store;
}

interface Reply {
  status: number;
  body?: string;
}

const failure = (status: number, code: string, message: string): Reply => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

function listing(query: URLSearchParams, objects: SimulatedObjectStore['objects']): string {
  const most = Number(query.get('max-keys') ?? 1_000);
  const after = query.get('start-after') ?? '';
  const paths = [...objects.keys()].filter((path) => path.startsWith(query.get('prefix') ?? '') && path > after).sort();
  const contents = paths.slice(0, most).map((path) => {
    const modified = objects.get(path)?.at.toISOString();
    return `<Contents><Key>${path}</Key><LastModified>${modified}</LastModified></Contents>`;
  });
  return `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><IsTruncated>${paths.length > most}</IsTruncated>${contents.join('')}</ListBucketResult>`;
}
