/** Turns the declarations of the endpoints into the OpenAPI document; nothing in it is written by hand twice. */
import { z } from 'zod';
import { errorCodes } from '../../../http/errors.ts';
import {
  type HttpMethod,
  type JsonSchema,
  type MediaContent,
  type OpenApiDocument,
  type OpenApiOperation,
  operationIdFor,
  type Parameter,
  type ResponseEntry,
  type SecurityRequirement,
  schemaReference,
  templateOf,
} from '../../../http/openapi-document.ts';
import { sessionCookie } from '../../../identity/authenticate.ts';
import { atOnce, type InTurns } from '../../../in-turns.ts';
import type { Access, Endpoint, Paging, Resource } from '../endpoint.ts';
import { scopesOf } from '../permission.ts';
import { createSchemaBook, type SchemaBook } from './openapi-schemas.ts';

/** The version of the interface, which moves apart from the program's own. */
const interfaceVersion = '2.0.0';

const errorSchema = () =>
  z.object({
    success: z.literal(false),
    data: z.object({
      message: z.string().describe('What went wrong and what to do, for people'),
      errorCode: z.enum(errorCodes),
      errors: z
        .array(
          z.object({
            location: z.enum(['body', 'query', 'path', 'header']),
            path: z.string().describe('The field, such as `usage_limits.credit_limit` or `users.0.role`'),
            message: z.string(),
          }),
        )
        .optional()
        .describe('Each field at fault, where fields are'),
    }),
    request_id: z.string().describe('Also in the header `x-gw-request-id`; quote it when you ask for help'),
  });

const refusals = {
  400: { name: 'BadRequest', description: '`AB01` A field is missing, wrong or out of bounds; `errors` names each.' },
  401: {
    name: 'Unauthenticated',
    description: '`AB05` No credential was sent, or one that does not count (any more).',
  },
  403: { name: 'Forbidden', description: '`AB03` The caller is known and may not do this.' },
  404: {
    name: 'NotFound',
    description: '`AB08` What is named does not exist for this caller; `AB02` it cannot exist.',
  },
  409: {
    name: 'Conflict',
    description: '`AB07` It exists already, or something that depends on it stands in the way.',
  },
  413: { name: 'TooLarge', description: '`AB01` The body is larger than 1 MiB.' },
  415: { name: 'UnsupportedMedia', description: '`AB01` The body was not sent as `application/json`.' },
  429: { name: 'TooManyCalls', description: '`AB06` Too many calls; the header `retry-after` says when to come back.' },
  default: { name: 'Refused', description: 'Any other refusal, and `AB04` for a fault of ours.' },
} as const;

const description = [
  'The gateway takes requests for models under `/v1`; any other path below it goes to the provider as it is, and `/v1/proxy/` in front of a path forces that.',
  'Every path of the administration is also served under `/v2`, and under the spellings listed in `x-aliases`.',
  'Send an API key in the header `x-gw-api-key`, or sign in and send the session as a bearer token or cookie;',
  'with the cookie, calls that write also need the header `x-gw-csrf` with the `csrf_token` of `GET /v1/auth/self`.',
  'Wherever a workspace is named, its id or its slug will do.',
  'Unknown fields at the top of a body are ignored; inside limits, policies and settings they are refused.',
].join(' ');

export const createOpenApiDocument = (resources: readonly Resource[]): OpenApiDocument =>
  atOnce(openApiInTurns(resources));

/** Schema by schema. */
export function* openApiInTurns(resources: readonly Resource[]): InTurns<OpenApiDocument> {
  const book = createSchemaBook();
  book.add('Error', errorSchema(), 'output');
  const endpoints = resources.flatMap((resource) => resource.endpoints);
  const paths: OpenApiDocument['paths'] = {};
  for (const endpoint of endpoints) {
    const path = templateOf(`/v1${endpoint.path}`);
    paths[path] = { ...paths[path], [methodOf(endpoint)]: yield* operationOf(endpoint, book) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'gw', version: interfaceVersion, summary: 'The gateway and the administration of gw.', description },
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: book.components(),
      responses: Object.fromEntries(
        Object.values(refusals).map((refusal) => [
          refusal.name,
          { description: refusal.description, content: json(schemaReference('Error')) },
        ]),
      ),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-gw-api-key', description: 'An API key of any type.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or the token of a session.' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The session of the console.' },
      },
    },
  };
}

function* operationOf(endpoint: Endpoint, book: SchemaBook): InTurns<OpenApiOperation> {
  const { access, body } = endpoint;
  const requestBody = body && {
    required: endpoint.bodyRequired ?? true,
    content: json(book.schema(body(), 'input')),
  };
  yield;
  const reply = book.schema(endpoint.reply(), 'output');
  yield;
  const parameters = [
    ...pathParameters(endpoint, book),
    ...queryParameters(endpoint, book),
    ...(endpoint.paging ? pagingParameters(endpoint.paging) : []),
  ];
  yield;
  return {
    operationId: operationIdOf(endpoint),
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description && { description: endpoint.description }),
    parameters,
    ...(requestBody && { requestBody }),
    responses: responsesOf(endpoint, reply),
    security: securityOf(access),
    'x-aliases': otherPaths(endpoint),
    'x-callers': access === 'open' ? [] : [...access.callers],
    'x-scope': access === 'open' ? [] : [...scopesOf(access)],
    'x-level': access === 'open' ? null : access.level,
  };
}

const json = (schema: JsonSchema): MediaContent => ({ 'application/json': { schema } });

const methodOf = (endpoint: Endpoint): HttpMethod => endpoint.method.toLowerCase() as HttpMethod;

const parameterNames = (endpoint: Endpoint): string[] =>
  [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);

export const operationIdOf = ({ method, path }: Endpoint): string => operationIdFor(method, path);

function otherPaths(endpoint: Endpoint): string[] {
  const spellings = [endpoint.path, ...(endpoint.aliases ?? [])];
  const versions = ['/v1', '/v2', ...(endpoint.atRoot ? [''] : [])];
  return versions.flatMap((version) => spellings.map((path) => templateOf(version + path))).slice(1);
}

function pathParameters(endpoint: Endpoint, book: SchemaBook): Parameter[] {
  const declared = endpoint.params ? book.inline(endpoint.params(), 'input').properties : {};
  return parameterNames(endpoint).map((name) => ({
    name,
    in: 'path',
    required: true,
    ...describedBy(declared?.[name] ?? { type: 'string', minLength: 1, maxLength: 255 }),
    ...(name === 'workspaceId' && { description: 'The id or the slug of the workspace' }),
  }));
}

function queryParameters(endpoint: Endpoint, book: SchemaBook): Parameter[] {
  const declared = endpoint.query ? book.inline(endpoint.query(), 'input') : {};
  const parameters = Object.entries(declared.properties ?? {}).map(
    ([name, schema]): Parameter => ({
      name,
      in: 'query',
      required: declared.required?.includes(name) ?? false,
      ...describedBy(schema),
    }),
  );
  return namesWorkspaceInQuery(endpoint, book) && !('workspace_id' in (declared.properties ?? {}))
    ? [...parameters, workspaceParameter]
    : parameters;
}

const workspaceParameter: Parameter = {
  name: 'workspace_id',
  in: 'query',
  required: false,
  description: 'The id or the slug of the workspace that the call is about; a workspace key has its own',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** The kernel looks for the workspace in the path, then in the body of a write, then in the query. */
function namesWorkspaceInQuery(endpoint: Endpoint, book: SchemaBook): boolean {
  if (endpoint.access === 'open' || endpoint.access.level !== 'workspace') return false;
  if (parameterNames(endpoint).includes('workspaceId')) return false;
  const inBody = (endpoint.method === 'POST' || endpoint.method === 'PUT') && endpoint.body;
  return !(inBody && 'workspace_id' in (book.inline(inBody(), 'input').properties ?? {}));
}

/** A parameter carries its description itself, where readers look for it. */
function describedBy({ description, ...schema }: JsonSchema): Pick<Parameter, 'description' | 'schema'> {
  return { ...(description !== undefined && { description }), schema };
}

const pagingParameters = (paging: Paging): Parameter[] => [
  {
    name: 'current_page',
    in: 'query',
    required: false,
    description: 'The page, counted from 0; also spelled `currentPage` or `page`',
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 },
  },
  {
    name: 'page_size',
    in: 'query',
    required: false,
    description: `Rows a page; more than ${paging.max} is cut to ${paging.max}; also spelled \`pageSize\``,
    schema: { type: 'integer', minimum: paging.allowZero ? 0 : 1, maximum: paging.max, default: paging.size },
  },
];

function responsesOf(endpoint: Endpoint, reply: JsonSchema): Record<string, ResponseEntry> {
  const { access } = endpoint;
  const takesInput = endpoint.body || endpoint.query || endpoint.paging;
  const namesSomething = parameterNames(endpoint).length > 0 || (access !== 'open' && access.level === 'workspace');
  const statuses: (keyof typeof refusals)[] = [
    ...(takesInput ? ([400] as const) : []),
    ...(access === 'open' ? [] : ([401, 403] as const)),
    ...(namesSomething ? ([404] as const) : []),
    ...(endpoint.method === 'GET' ? [] : ([409] as const)),
    ...(endpoint.body ? ([413, 415] as const) : []),
    429,
    'default',
  ];
  return {
    200: { description: 'Done.', content: json(reply) },
    ...Object.fromEntries(
      statuses.map((status) => [status, { $ref: `#/components/responses/${refusals[status].name}` }]),
    ),
  };
}

function securityOf(access: Access): SecurityRequirement[] {
  if (access === 'open') return [];
  const byKey = access.callers.some((kind) => kind !== 'session');
  const bySession = access.callers.includes('session');
  return [...(byKey ? [{ apiKey: [] }] : []), { bearer: [] }, ...(bySession ? [{ session: [] }] : [])];
}
