/** Calls to AWS: whose keys sign them, and to which services the gateway's own keys may go. */

import type { Authorise } from './authorise.ts';
import { awsKeys } from './aws-keys.ts';
import { signed } from './aws-signature.ts';
import { requireService } from './own-identity.ts';

export const aws: Authorise<'aws'> = async (authentication, request, surroundings) => {
  const { service, region, credentials } = authentication;
  if (credentials.from === 'gateway' || (credentials.from === 'role' && credentials.with === null)) {
    requireService(request.url, 'AWS', (host) => isServiceIn(region, host), surroundings);
  }
  const keys = await awsKeys(credentials, region, surroundings);
  return signed(request, keys, { service, region, at: surroundings.now() });
};

/** A signature is good for one service alone, but it carries a token: customers' machines and functions have names without the region at this place. */
const isServiceIn = (region: string, host: string): boolean =>
  /^(?:bedrock|runtime\.sagemaker|polly|s3|aws-external-anthropic|[a-z0-9.-]+\.s3)(?:-[a-z-]+)?\./.test(host) &&
  (host.endsWith(`.${region}.amazonaws.com`) ||
    host.endsWith(`.${region}.amazonaws.com.cn`) ||
    host.endsWith(`.${region}.api.aws`));
