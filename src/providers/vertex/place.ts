/** Where a target's project stands: hosts by region, and the paths of what it holds. */
import { RequestFault } from '../faults.ts';
import { objectOf, parsed, textOf } from '../json.ts';
import type { CallFacts, TargetFields } from '../provider.ts';
import { hostLabel, setting } from '../settings.ts';
import { vertexModel } from './model.ts';

const regionOf = ({ fields }: CallFacts): string => hostLabel(fields, 'vertex_region');

/** Several regions under one name have hosts of another form. */
const multiRegions = new Set(['us', 'eu']);

export function vertexAddress(facts: CallFacts): string {
  const region = regionOf(facts);
  if (region === 'global') return 'https://aiplatform.googleapis.com';
  return multiRegions.has(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`;
}

/** The service account's file, which clients write as text or as an object. */
export function serviceAccount({ vertex_service_account_json: json }: TargetFields): string | null {
  if (typeof json === 'string') return json === '' ? null : json;
  return typeof json === 'object' && json !== null ? JSON.stringify(json) : null;
}

/** A service account knows its project. */
export function projectOf({ fields }: CallFacts): string {
  const account = serviceAccount(fields);
  const project =
    setting(fields, 'vertex_project_id') ?? (account && textOf(objectOf(parsed(account)).project_id)) ?? null;
  if (project) return encodeURIComponent(project);
  throw new RequestFault(
    'vertex_project_id',
    'the setting vertex_project_id is missing: set it on the integration or the target',
  );
}

/** The project in its region. */
export const placeOf = (facts: CallFacts): string => `projects/${projectOf(facts)}/locations/${regionOf(facts)}`;

/** The model that the call names, in the project. */
export function modelResource(facts: CallFacts): string {
  const { kind, name } = vertexModel(facts.model);
  return `${placeOf(facts)}/publishers/${kind}/models/${encodeURIComponent(name)}`;
}

/** A method of it. */
export const modelMethod = (facts: CallFacts, method: string): string => `/v1/${modelResource(facts)}:${method}`;

/** Another service of Google's; under the target's own host, where it has one. */
export const atService = ({ customHost }: CallFacts, host: string, path: string): string =>
  customHost ? path : `https://${host}${path}`;

/** A service of Google's that has a host in each region, such as `eu-speech.googleapis.com`. */
export function atRegionalService(facts: CallFacts, service: string, path: string): string {
  const region = regionOf(facts);
  return atService(facts, `${region === 'global' ? '' : `${region}-`}${service}.googleapis.com`, path);
}
