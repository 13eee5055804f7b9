/** Claude Platform on AWS: Anthropic's own API, reached and paid for through AWS. */

import type { Authentication } from '../authentication.ts';
import { awsAuthentication, awsFields, awsRegion } from '../aws/access.ts';
import type { CallFacts, Provider } from '../provider.ts';
import { needSetting } from '../settings.ts';
import { apiFields } from './anthropic.ts';
import { apiEndpoints } from './endpoints.ts';
import { apiHeaders } from './headers.ts';

const service = 'aws-external-anthropic';

const authentication = (facts: CallFacts): Authentication | null => awsAuthentication(facts, service);

export const claudePlatformAws: Provider = {
  id: 'claude-platform-aws',
  name: 'Claude Platform on AWS',
  address: (facts) => `https://${service}.${awsRegion(facts)}.api.aws/v1`,
  needsCredential: false,
  authentication,
  modelCalls: { POST: /\/v1\/messages(?:\/count_tokens)?$/i, GET: /\/v1\/models(?:\/[^/]+)?$/i },
  headers: (facts) => ({
    ...apiHeaders(facts),
    'anthropic-workspace-id': needSetting(facts.fields, 'anthropic_aws_workspace_id'),
    ...(authentication(facts) === null && facts.credential !== null && { 'x-api-key': facts.credential }),
  }),
  fields: [
    { name: 'anthropic_aws_workspace_id', required: true, about: 'The workspace of Anthropic’s that calls belong to.' },
    ...awsFields.filter(({ name }) => name !== 'endpoint_domain'),
    ...apiFields,
  ],
  rowsInline: true,
  continuesPrefix: true,
  endpoints: apiEndpoints,
  notes: ['Models have Anthropic’s own names, without the prefixes of regions or vendors.'],
};
