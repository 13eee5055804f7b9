/** The addresses of Azure AI Foundry: what stands behind each form of them, and the paths below it. */
import type { CallFacts } from '../provider.ts';
import { hostLabel, setting } from '../settings.ts';

type PathOf = (facts: CallFacts, base: string) => string;

/** Where the target's models are; null where it does not say. */
export function foundryAddress({ fields }: CallFacts): string | null {
  const written = setting(fields, 'azure_foundry_url');
  if (written !== null) return written;
  if (setting(fields, 'azure_endpoint_name') === null) return null;
  const host = `${hostLabel(fields, 'azure_endpoint_name')}.${hostLabel(fields, 'azure_region')}`;
  return setting(fields, 'azure_deployment_type') === 'managed'
    ? `https://${host}.inference.ml.azure.com/score`
    : `https://${host}.models.ai.azure.com`;
}

/** Claude speaks its own dialect; its address says so, or its name. */
export const isClaude = (facts: CallFacts): boolean =>
  /\/anthropic(\/|$)/.test(facts.customHost ?? foundryAddress(facts) ?? '') ||
  /^(anthropic[./])?claude-/.test(facts.model);

const defaultVersion = '2024-05-01-preview';

/** Endpoints that score are called as they are; addresses that end in a version take none in the query unless one is set. */
export const modelPath =
  (path: string): PathOf =>
  ({ fields }, base) => {
    if (/\/score$/.test(base)) return '';
    const version = setting(fields, 'azure_api_version', 'api_version');
    if (version === null && /\/v1$/.test(base)) return path;
    return `${path}?api-version=${encodeURIComponent(version ?? defaultVersion)}`;
  };

/** Claude's API beside the other models, wherever below the resource the address points. */
export const claudePath =
  (path: string): PathOf =>
  (_, base) => {
    const [resource, below] = base.split(/\/anthropic(?=\/|$)/, 2);
    return `${below === undefined ? new URL(base).origin : resource}/anthropic/v1${path}`;
  };

/** A resource of many vendors keeps Cohere's own API below its origin; an endpoint of one model has it at its root. */
export const rerankPath: PathOf = (_, base) => {
  if (/\/score$/.test(base)) return '';
  const { origin, hostname } = new URL(base);
  return hostname.endsWith('.services.ai.azure.com') || /\/(?:models|openai\/v1)$/.test(base)
    ? `${origin}/providers/cohere/v2/rerank`
    : `${origin}/v1/rerank`;
};

const imageVersion = '2025-04-01-preview';

/** Pictures are made by deployments, unless the address is that of the newer API, which names the model in the body. */
export const imagePath =
  (what: 'generations' | 'edits'): PathOf =>
  (facts, base) => {
    if (/\/(?:score|v1)$/.test(base)) return modelPath(`/images/${what}`)(facts, base);
    const version = setting(facts.fields, 'azure_api_version', 'api_version') ?? imageVersion;
    const deployment = `/openai/deployments/${encodeURIComponent(facts.model)}`;
    return `${new URL(base).origin}${deployment}/images/${what}?api-version=${encodeURIComponent(version)}`;
  };

const filesVersion = '2024-10-21';

/** Files and batches belong to the resource. */
export const resourcePath =
  (path: string): PathOf =>
  ({ fields, pathParams }, base) => {
    const version = setting(fields, 'azure_api_version', 'api_version') ?? filesVersion;
    const full = path.replace(':id', encodeURIComponent(pathParams.id ?? ''));
    return `${new URL(base).origin}/openai${full}?api-version=${encodeURIComponent(version)}`;
  };
