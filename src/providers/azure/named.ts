/** Where a call of Azure OpenAI names its deployment: in the path of the dated API, in the body of the one called v1. */
import type { CallFacts, JsonObject } from '../provider.ts';
import { deploymentOf, versionOf } from './deployment.ts';

const undated = 'v1';

export const isUndated = (facts: CallFacts): boolean => versionOf(facts) === undated;

/** The path of an operation on a deployment. */
export const deployedPath =
  (path: string) =>
  (facts: CallFacts): string => {
    const { name, apiVersion } = deploymentOf(facts);
    return apiVersion === undated ? `/v1${path}` : dated(`/deployments/${encodeURIComponent(name)}${path}`, apiVersion);
  };

/** The path of an operation on the resource: files, batches, jobs, stored responses. */
export const resourcePath =
  (path: string) =>
  (facts: CallFacts): string => {
    const apiVersion = versionOf(facts);
    const full = path.replace(':id', encodeURIComponent(facts.pathParams.id ?? ''));
    return apiVersion === undated ? `/v1${full}` : dated(full, apiVersion);
  };

const dated = (path: string, apiVersion: string): string => `${path}?api-version=${encodeURIComponent(apiVersion)}`;

/** A query of the client's own, with the version that every dated call must name. */
export function datedQuery(facts: CallFacts): string {
  const { query } = facts;
  if (isUndated(facts) || /(?:^|&)api-version=/.test(query)) return query;
  return `${query === '' ? '' : `${query}&`}api-version=${encodeURIComponent(versionOf(facts))}`;
}

/** The body with the deployment as its model, where the service reads that; the very same object otherwise. */
export function named(body: Readonly<JsonObject>, facts: CallFacts): Readonly<JsonObject> {
  const { name, apiVersion } = deploymentOf(facts);
  if (apiVersion !== undated || name === '' || body.model === name) return body;
  return { ...body, model: name };
}
