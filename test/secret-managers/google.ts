/** Google Secret Manager on loopback: AccessSecretVersion over REST, for bearers of a token. */
import { type Behaviour, json, type ReceivedCall } from '../providers/simulated.ts';

interface Project {
  tokens: Set<string>;
  /** By secret; the newest version last, counted from one. */
  secrets: Map<string, string[]>;
}

const refuse = (code: number, status: string, message: string): Behaviour =>
  json(code, { error: { code, message, status } });

export const googleSecrets =
  (project: string, state: Project): Behaviour =>
  (call, response) =>
    answer(call, project, state)(call, response);

function answer(call: ReceivedCall, project: string, { tokens, secrets }: Project): Behaviour {
  const token = /^Bearer (.+)$/.exec(call.headers.authorization ?? '')?.[1];
  if (token === undefined || !tokens.has(token)) {
    return refuse(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  }
  const path = new URL(call.path, 'http://google').pathname;
  const [, owner, name = '', version = ''] =
    /^\/v1\/projects\/([^/]+)\/secrets\/([^/]+)\/versions\/([^/:]+):access$/.exec(path) ?? [];
  if (call.method !== 'GET' || name === '') return refuse(404, 'NOT_FOUND', 'Method not found.');
  if (owner !== project) return refuse(403, 'PERMISSION_DENIED', 'Permission denied on resource.');
  const versions = secrets.get(name) ?? [];
  const number = version === 'latest' ? versions.length : Number(version);
  const value = versions[number - 1];
  if (value === undefined) return refuse(404, 'NOT_FOUND', `Secret Version [${name}] not found or has no versions.`);
  return json(200, {
    name: `projects/123456789/secrets/${name}/versions/${number}`,
    payload: { data: Buffer.from(value).toString('base64'), dataCrc32c: String(crc32c(Buffer.from(value))) },
  });
}

/** Castagnoli's checksum, which the service tells with every payload. */
function crc32c(bytes: Buffer): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
