/** Tools that Google runs itself, by any of the names that clients give them. */
import { RequestFault } from '../faults.ts';
import { isObject, objectOf, wordOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { nameOf, type Surface } from './surface.ts';

interface HostedTool {
  /** Its field among the tools of a request. */
  field: string;
  only?: Surface;
}

const hosted: Readonly<Record<string, HostedTool>> = {
  google_search: { field: 'googleSearch' },
  google_search_retrieval: { field: 'googleSearchRetrieval' },
  enterprise_web_search: { field: 'enterpriseWebSearch', only: 'vertex' },
  url_context: { field: 'urlContext' },
  code_execution: { field: 'codeExecution' },
  google_maps: { field: 'googleMaps' },
  computer_use: { field: 'computerUse' },
  file_search: { field: 'fileSearch', only: 'studio' },
  retrieval: { field: 'retrieval', only: 'vertex' },
};

const fields = new Set(Object.values(hosted).map(({ field }) => field));

/** What other providers call the same. */
const otherNames: readonly [pattern: RegExp, name: string][] = [
  [/^web_search(_preview)?(_\d+|_\d{4}_\d{2}_\d{2})?$/, 'google_search'],
  [/^(code_interpreter|code_execution(_\d+)?)$/, 'code_execution'],
  [/^web_fetch(_\d+)?$/, 'url_context'],
];

/** Written as Google's own field: `googleSearch` is `google_search`. */
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const namedAs = (name: string): string | null => {
  const own = snakeCase(name);
  if (Object.hasOwn(hosted, own)) return own;
  return otherNames.find(([pattern]) => pattern.test(name))?.[1] ?? null;
};

/** Whether a function is one of them by name. One that describes its own parameters is the caller's. */
export function isHosted(name: string, parameters: Readonly<JsonObject> | null): boolean {
  const describes = isObject(parameters?.properties) && Object.keys(parameters.properties).length > 0;
  return Object.hasOwn(hosted, snakeCase(name)) && !describes;
}

/** The tool that a function is; null for one of the caller's. */
export function hostedFunction(
  name: string,
  parameters: Readonly<JsonObject> | null,
  surface: Surface,
): JsonObject | null {
  if (!isHosted(name, parameters)) return null;
  const { type, properties, required, additionalProperties, ...config } = parameters ?? {};
  return toolOf(snakeCase(name), config, surface);
}

/** A tool of another type than function, as the client wrote it. */
export function hostedTool(tool: Readonly<JsonObject>, surface: Surface): JsonObject {
  const native = Object.keys(tool).find((name) => fields.has(name));
  if (native !== undefined) return toolOf(snakeCase(native), objectOf(tool[native]), surface);
  const type = wordOf(tool.type);
  const name = namedAs(type);
  if (name === null) {
    throw new RequestFault(
      'tools',
      `the tool "${type}" is run by the provider that defines it; ${nameOf(surface)} has no such tool`,
    );
  }
  const { type: _, name: __, [type]: inner, ...beside } = tool;
  const config = isObject(inner) ? withoutName(inner) : beside;
  return toolOf(name, snakeCase(type) === name ? config : ofAnother(type, config, surface), surface);
}

const withoutName = ({ name: _, ...config }: JsonObject): JsonObject => config;

/** Another provider's settings. Those that narrow what is searched must not get lost; the rest only tunes. */
function ofAnother(type: string, config: JsonObject, surface: Surface): JsonObject {
  const blocked = config.blocked_domains;
  const narrowing = ['allowed_domains', 'filters'].find((name) => config[name] !== undefined && config[name] !== null);
  const refused = narrowing ?? (Array.isArray(blocked) && surface === 'studio' ? 'blocked_domains' : null);
  if (refused) throw new RequestFault('tools', `${nameOf(surface)} cannot keep to ${refused} of the tool "${type}"`);
  return Array.isArray(blocked) ? { excludeDomains: blocked } : {};
}

function toolOf(name: string, config: JsonObject, surface: Surface): JsonObject {
  const tool = hosted[name];
  if (!tool || (tool.only && tool.only !== surface)) {
    throw new RequestFault('tools', `${nameOf(surface)} has no tool "${name}"`);
  }
  return { [tool.field]: config };
}
