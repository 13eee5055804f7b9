/** Made-up values that fit a schema, and the calls that carry them. */
import {
  type JsonSchema,
  jsonSchemaOf,
  type ListedOperation,
  type OpenApiDocument,
  resolveSchema,
} from '../openapi-document.ts';

const exampleId = '0198c5a4-7d3e-7a10-9c52-6f1b2e8d4a77';
const deepest = 5;

const byFormat: Readonly<Record<string, string>> = {
  uuid: exampleId,
  email: 'ada@example.com',
  'date-time': '2026-01-31T12:00:00.000Z',
  uri: 'https://example.com',
};

const byName: Readonly<Record<string, string>> = {
  name: 'Support',
  slug: 'ws-support-3f9a2c',
  icon: '🛟',
  description: 'The support team',
  first_name: 'Ada',
  last_name: 'Lovelace',
  password: 'correct horse battery staple',
  scopes: 'workspaces.read',
  client_ip: '203.0.113.7',
  domain: 'example.com',
};

/** Text that fits a field by its name, where the schema says no more than that it is text. */
function textFor(name: string): string {
  const known = byName[name];
  if (known !== undefined) return known;
  if (/(^|_)id$|Id$|_by$/.test(name)) return exampleId;
  if (/_at$|_time$|timestamp/.test(name)) return byFormat['date-time'] ?? '';
  if (/email/.test(name)) return byFormat.email ?? '';
  if (/(url|link)$/.test(name)) return byFormat.uri ?? '';
  return name === '' ? 'text' : name.replaceAll('_', ' ');
}

/** `onlyRequired` leaves out what a caller may leave out. */
export function exampleOf(
  document: OpenApiDocument,
  source: JsonSchema,
  onlyRequired: boolean,
  name = '',
  depth = 0,
): unknown {
  const schema = resolveSchema(document, source);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return exampleOf(document, first, onlyRequired, name, depth);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return byFormat[schema.format ?? ''] ?? textFor(name).slice(0, schema.maxLength);
    case 'integer':
    case 'number':
      return schema.default ?? Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return schema.default ?? true;
    case 'array':
      return schema.items && depth < deepest ? [exampleOf(document, schema.items, onlyRequired, name, depth + 1)] : [];
    case 'object':
      return depth < deepest ? exampleObject(document, schema, onlyRequired, depth) : {};
    default:
      return null;
  }
}

function exampleObject(document: OpenApiDocument, schema: JsonSchema, onlyRequired: boolean, depth: number) {
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => !field.not);
  const required = fields.filter(([name]) => schema.required?.includes(name));
  // A body whose fields are all optional still shows one, because an empty one would say nothing.
  const shown = onlyRequired ? (required.length > 0 || depth > 0 ? required : fields.slice(0, 1)) : fields;
  return Object.fromEntries(
    shown.map(([name, field]) => [name, exampleOf(document, field, onlyRequired, name, depth + 1)]),
  );
}

export function curlOf(document: OpenApiDocument, { method, path, operation }: ListedOperation): string {
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(document, schema, true, name)))}`);
  const address = `$GW_URL${path.replaceAll(/\{(\w+)\}/g, '$$$1')}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const body = jsonSchemaOf(operation.requestBody?.content);
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${address}"`,
    ...credential(operation['x-callers']),
    ...(body
      ? [
          "  -H 'content-type: application/json'",
          `  -d '${JSON.stringify(exampleOf(document, body, true), null, 2).replaceAll("'", "'\\''")}'`,
        ]
      : []),
  ].join(' \\\n');
}

function credential(callers: readonly string[]): string[] {
  if (callers.length === 0) return [];
  const byKey = callers.some((kind) => kind !== 'session');
  return [byKey ? '  -H "x-gw-api-key: $GW_API_KEY"' : '  -H "authorization: Bearer $GW_SESSION"'];
}
