/** Claude on the messages route: InvokeModel with its own body; what is Bedrock's business travels in headers. */
import { nativeMessages } from '../anthropic/family.ts';
import { isObject, objectOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint } from '../provider.ts';
import { claudeOnBedrock } from './claude.ts';
import { modelPath } from './model.ts';

export const native: ProviderEndpoint = {
  path: (facts) => modelPath(facts, facts.stream ? 'invoke-with-response-stream' : 'invoke'),
  translation: nativeMessages(claudeOnBedrock),
  framing: 'aws',
  headers: serviceHeaders,
  adjust: withoutServiceFields,
};

const serviceFields = ['guardrailConfig', 'guardrail_config', 'performanceConfig', 'performance_config', 'serviceTier'];

function serviceHeaders({ body }: CallFacts): Record<string, string> {
  const guardrail = objectOf(body.guardrailConfig ?? body.guardrail_config);
  const performance = objectOf(body.performanceConfig ?? body.performance_config);
  const headers = present({
    'x-amzn-bedrock-guardrailidentifier': textOf(guardrail.guardrailIdentifier),
    'x-amzn-bedrock-guardrailversion': textOf(guardrail.guardrailVersion),
    'x-amzn-bedrock-trace': textOf(guardrail.trace)?.toUpperCase(),
    'x-amzn-bedrock-performanceconfig-latency': textOf(performance.latency),
    'x-amzn-bedrock-service-tier': isObject(body.serviceTier) ? textOf(body.serviceTier.type) : null,
  });
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function withoutServiceFields(body: Readonly<JsonObject>): Readonly<JsonObject> {
  if (!serviceFields.some((name) => name in body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !serviceFields.includes(name)));
}
