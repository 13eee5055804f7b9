/** A key that AWS KMS has encrypted, decrypted with it: called once, at the start, as the gateway itself. */
import { z } from 'zod';
import { jsonOrNothing } from '../../bounded-json.ts';
import type { CredentialDeps } from './authorise.ts';
import { createCredentials } from './credentials.ts';

/** The operator's fault or the cloud's, told in one line. */
export class KmsError extends Error {}

const timeoutMs = 15_000;

/** The region stands in the variable or in the ARN of the key. */
export async function decryptedByKms(
  { ciphertext, region }: { ciphertext: string; region: string | null },
  deps: Pick<CredentialDeps, 'fetch' | 'now' | 'env' | 'readFile'>,
): Promise<Buffer> {
  const { env } = deps;
  const where = region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  if (!where) throw new KmsError('AWS KMS needs a region: set GW_MASTER_KEY_KMS_REGION or AWS_REGION.');
  const domain = where.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = env.AWS_ENDPOINT_URL_KMS || `https://kms.${where}.${domain}/`;
  const { hostname } = new URL(url);
  const credentials = createCredentials({ ...deps, alsoServes: (host) => host === hostname });
  const request = {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'TrentService.Decrypt' },
    body: Buffer.from(JSON.stringify({ CiphertextBlob: ciphertext })),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const signature = await credentials
    .authorise({ kind: 'aws', service: 'kms', region: where, credentials: { from: 'gateway' } }, request, signal)
    .catch((fault) => {
      throw new KmsError(
        `AWS KMS cannot be asked for the master key: ${fault instanceof Error ? fault.message : fault}`,
      );
    });
  const { status, text } = await deps
    .fetch(url, {
      method: 'POST',
      headers: { ...request.headers, ...signature },
      body: request.body,
      redirect: 'manual',
      signal,
    })
    .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
    .catch(() => {
      throw new KmsError('AWS KMS cannot be reached for the master key.');
    });
  const answer = decryption().safeParse(jsonOrNothing(text));
  if (status === 200 && answer.success) return Buffer.from(answer.data.Plaintext, 'base64');
  const code = refusal().safeParse(jsonOrNothing(text)).data?.__type.replace(/^.*#/, '');
  throw new KmsError(
    `AWS KMS does not decrypt the master key (status ${status}${code && /^\w{3,60}$/.test(code) ? `, ${code}` : ''}).`,
  );
}

const decryption = () => z.object({ Plaintext: z.base64().min(1) });
const refusal = () => z.object({ __type: z.string() });
