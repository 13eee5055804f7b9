import { expect, test } from 'bun:test';
import type { Authentication } from '../../providers/authentication.ts';
import { createCredentials } from './credentials.ts';

const scope = 'https://cognitiveservices.azure.com/.default';
const region = 'us-east-1';
const role = { from: 'role', roleArn: 'arn:aws:iam::1:role/a', externalId: null, tags: {}, with: null } as const;

const identities: Record<string, Authentication> = {
  instance: { kind: 'aws', service: 'bedrock', region, credentials: { from: 'gateway' } },
  role: { kind: 'aws', service: 'bedrock', region, credentials: role },
  managed: { kind: 'entra', scope, credentials: { from: 'managed', clientId: null } },
  workload: { kind: 'entra', scope, credentials: { from: 'workload', tenantId: 't', clientId: 'c' } },
  machine: { kind: 'google', scope, credentials: { from: 'gateway' } },
};

const asked: string[] = [];
const credentials = (env: Record<string, string> = {}) =>
  createCredentials({
    fetch: Object.assign(
      async (url: unknown) => {
        asked.push(String(url));
        return Response.json({ access_token: 'token', expires_in: 3_600 });
      },
      { preconnect: () => undefined },
    ),
    now: () => new Date(0),
    env: { GCP_AUTH_MODE: 'workload', AZURE_FEDERATED_TOKEN_FILE: '/token', ...env },
    readFile: async () => 'jwt',
  });

/** Names that anybody can have below a cloud's domain, and services of the cloud that hold more than models. */
const others = [
  'https://collector.example.com/',
  'https://collector.westeurope.cloudapp.azure.com/openai',
  'https://collector.azurewebsites.net/',
  'https://management.azure.com/subscriptions',
  'https://collector.blob.core.windows.net/a',
  'https://collector.openai.azure.com.example.com/',
  'https://openai.azure.com/',
  'https://secretmanager.googleapis.com/v1/projects/p/secrets',
  'https://collector.storage.googleapis.com.example.com/',
  'https://aiplatform.googleapis.com.example.com/',
  'https://evil-aiplatformXgoogleapis.com/',
  'https://collector.execute-api.us-east-1.amazonaws.com/',
  'https://bedrock.collector.us-east-1.elb.amazonaws.com/',
  'https://ec2-1-2-3-4.us-east-1.compute.amazonaws.com/',
  'https://bedrock-runtime.us-east-1.amazonaws.com.example.com/',
  'http://bedrock-runtime.us-east-1.amazonaws.com/',
  'http://res.openai.azure.com/',
  'http://us-central1-aiplatform.googleapis.com/',
];

for (const [name, authentication] of Object.entries(identities)) {
  test(`the gateway’s own identity (${name}) is shown to no host but a model service`, async () => {
    for (const url of others) {
      const request = { url, method: 'GET', headers: {}, body: null };
      const answer = await credentials({ AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'own' })
        .authorise(authentication, request, new AbortController().signal)
        .catch((fault: unknown) => fault);
      expect({ url, answer }).toMatchObject({ url, answer: { code: 'invalid_custom_host' } });
    }
    expect(asked).toEqual([]);
  });
}
