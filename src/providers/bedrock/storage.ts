/** Files of Bedrock: objects of S3. */
import type { Authentication } from '../authentication.ts';
import { awsAddress, awsAuthentication } from '../aws/access.ts';
import { RequestFault } from '../faults.ts';
import type { CallFacts } from '../provider.ts';
import { needSetting, setting } from '../settings.ts';
import { storedFiles } from '../stored-files.ts';
import { batchRows } from './batch-rows.ts';

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

export const { objectUri, isOwn, objectAddress, uploadFile, retrieveFile, fileContent } = storedFiles({
  scheme: 's3',
  bucketName: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  /** The bucket stands in the path: its name may hold dots, which certificates do not cover. */
  address: ({ bucket, key }, facts) =>
    `${awsAddress('s3', facts)}/${bucket}/${key.split('/').map(encodedSegment).join('/')}`,
  place: ({ filename }, { fields }) => ({
    bucket: needSetting(fields, 'aws_s3_bucket'),
    key: setting(fields, 'aws_s3_object_key', 'provider_file_name') ?? filename,
  }),
  batchRows,
  upload: (facts) => ({ authentication: storageAuthentication(facts), headers: encryption(facts) }),
});
