/** AWS KMS on loopback: Decrypt in JSON 1.1, for callers whose signature is right. */
import { faultOfSignature, type KnownKeys } from '../providers/aws-signature.ts';
import { type Behaviour, bytes, type ReceivedCall } from '../providers/simulated.ts';

const json11 = { 'content-type': 'application/x-amz-json-1.1' };

interface Kms {
  keys: KnownKeys;
  region: string;
  /** What each ciphertext, in base64, stands for. */
  plaintexts: ReadonlyMap<string, Buffer>;
}

const refuse = (type: string, message: string): Behaviour =>
  bytes(400, JSON.stringify({ __type: type, message }), json11);

export const kms =
  (state: Kms): Behaviour =>
  (call, response) =>
    answer(call, state)(call, response);

function answer(call: ReceivedCall, { keys, region, plaintexts }: Kms): Behaviour {
  const fault = faultOfSignature(call, keys, { service: 'kms', region });
  if (fault) return refuse('UnrecognizedClientException', fault);
  if (call.method !== 'POST' || call.headers['x-amz-target'] !== 'TrentService.Decrypt') {
    return refuse('UnknownOperationException', '');
  }
  const plaintext = plaintexts.get(String(call.json?.CiphertextBlob));
  if (!plaintext) return refuse('InvalidCiphertextException', '');
  const body = {
    CiphertextBlob: undefined,
    EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
    KeyId: `arn:aws:kms:${region}:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab`,
    Plaintext: plaintext.toString('base64'),
  };
  return bytes(200, JSON.stringify(body), json11);
}
