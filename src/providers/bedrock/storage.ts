/** Files of Bedrock: objects of S3, whose ids are their addresses, encoded. */

import type { Authentication } from '../authentication.ts';
import { awsAddress, awsAuthentication } from '../aws/access.ts';
import { EncodedBody } from '../encoded-body.ts';
import { RequestFault } from '../faults.ts';
import { textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';
import { batchRows } from './batch-rows.ts';
import { decoded } from './encoded.ts';

export const fileId = (uri: string): string => encodeURIComponent(uri);

/** Clients encode an id once more for the path; some do not. */
export function objectUri(id: string, field: string): string {
  const uri = [id, decoded(id), decoded(decoded(id))].find((each) => each.startsWith('s3://'));
  if (uri) return uri;
  throw new RequestFault(field, `${field} must be the address of an object, encoded: s3://bucket/key`);
}

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Where the object lies, its bucket in the path: a bucket's name may hold dots, which certificates do not cover. */
export function objectAddress(uri: string, facts: CallFacts): string {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
  if (!bucketName.test(bucket) || key === '') {
    throw new RequestFault('file_id', `${uri.slice(0, 200)} is not the address of an object`);
  }
  return `${awsAddress('s3', facts)}/${bucket}/${key.split('/').map(encodedSegment).join('/')}`;
}

const encodedSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

/** S3 takes signatures only. */
export function storageAuthentication(facts: CallFacts): Authentication {
  const authentication = awsAuthentication(facts, 's3');
  if (authentication) return authentication;
  throw new RequestFault('aws_auth_type', 'files lie in S3, which takes no API key: use an access key or a role');
}

const encryption = ({ fields }: CallFacts): Record<string, string> => {
  const method = setting(fields, 'aws_server_side_encryption', 'amz_server_side_encryption');
  const key = setting(fields, 'aws_server_side_encryption_kms_key_id', 'amz_server_side_encryption_aws_kms_key_id');
  return {
    ...(method !== null && { 'x-amz-server-side-encryption': method }),
    ...(key !== null && { 'x-amz-server-side-encryption-aws-kms-key-id': key }),
  };
};

const uriOf = ({ pathParams }: CallFacts): string => objectUri(pathParams.id ?? '', 'file_id');

const fileAnswer = (uri: string, bytes: number, createdAt: number, purpose: string): JsonObject => ({
  id: fileId(uri),
  object: 'file',
  bytes,
  created_at: createdAt,
  filename: uri.split('/').at(-1) ?? '',
  purpose,
  status: 'processed',
  status_details: null,
});

/** Rows of OpenAI's become rows of the model's; any other file is stored as it is. */
export const uploadFile: Steps = function* (facts) {
  const file = facts.files.get('file');
  if (!file) throw new RequestFault('file', 'file is missing');
  const purpose = textOf(facts.body.purpose) ?? 'batch';
  const key = setting(facts.fields, 'aws_s3_object_key', 'provider_file_name') ?? file.filename;
  const uri = `s3://${needSetting(facts.fields, 'aws_s3_bucket')}/${key}`;
  const isBatch = purpose === 'batch';
  const content = isBatch ? batchRows(new TextDecoder().decode(file.bytes), facts) : Buffer.from(file.bytes);
  yield {
    calls: [
      {
        method: 'PUT',
        path: objectAddress(uri, facts),
        authentication: storageAuthentication(facts),
        headers: encryption(facts),
        body: new EncodedBody(isBatch ? 'application/jsonl' : file.contentType, content),
      },
    ],
  };
  return fileAnswer(uri, content.length, facts.now(), purpose);
};

export const retrieveFile: ProviderEndpoint = {
  method: 'HEAD',
  path: (facts) => objectAddress(uriOf(facts), facts),
  translation: {
    takes: 'bytes',
    response: (_, facts, { headers }) => {
      const changed = Date.parse(headers.get('last-modified') ?? '');
      const bytes = Number(headers.get('content-length') ?? 0);
      return fileAnswer(uriOf(facts), bytes, Number.isNaN(changed) ? 0 : Math.floor(changed / 1000), 'batch');
    },
  },
};

export const fileContent: ProviderEndpoint = { path: (facts) => objectAddress(uriOf(facts), facts) };
