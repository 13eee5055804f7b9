/** Policies as they are stored: conditions on facts of a call, and by which facts they count apart. */

export interface PolicyCondition {
  key: string;
  value: string | string[];
  excludes?: string | string[];
}

export interface PolicyGroupKey {
  key: string;
}

/** Known before a target is chosen. */
const requestKeys: ReadonlySet<string> = new Set(['api_key', 'organisation_id', 'workspace_id', 'endpoint_type']);
/** Known then too, of calls to models. */
const promptKey = 'prompt';
/** Known once a target is chosen. */
const targetKeys: ReadonlySet<string> = new Set(['virtual_key', 'provider', 'config', 'model']);
const toolKeys: ReadonlySet<string> = new Set(['mcp_server', 'mcp_tool']);

export const metadataPrefix = 'metadata.';
const isMetadataKey = (key: string): boolean => key.startsWith(metadataPrefix) && key.length > metadataPrefix.length;

export const isTargetKey = (key: string): boolean => targetKeys.has(key);

export interface PolicyTerms {
  kind: 'rate' | 'usage';
  target: 'llm' | 'mcp_tools';
}

/** Whether a condition may name this key. */
export function isConditionKey(key: string, { kind, target }: PolicyTerms): boolean {
  if (key === 'endpoint_type') return kind === 'rate' && target === 'llm';
  if (requestKeys.has(key) || isMetadataKey(key)) return true;
  return target === 'mcp_tools' ? toolKeys.has(key) : key === promptKey || targetKeys.has(key);
}

/** Whether a policy may count apart by this key. */
export const isGroupKey = (key: string, terms: PolicyTerms): boolean =>
  key !== 'endpoint_type' && isConditionKey(key, terms);

export const listOf = (values: string | readonly string[] | undefined): readonly string[] =>
  values === undefined ? [] : typeof values === 'string' ? [values] : values;

export const anyValue = '*';

/** The group of a policy that counts all calls together. */
export const sharedValueKey = '*';
