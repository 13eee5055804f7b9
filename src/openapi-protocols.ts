/** The routes whose messages a protocol of the field defines: the OpenAPI document lists them and says which protocol that is. */
import {
  type DocumentPart,
  type HttpMethod,
  type ListedOperation,
  operationIdFor,
  type Parameter,
  templateOf,
} from './http/openapi-document.ts';

interface Protocol {
  tag: string;
  /** What a reader needs to know of every route of it. */
  description: string;
  callers: readonly string[];
  routes: readonly ProtocolRoute[];
}

interface ProtocolRoute {
  method: HttpMethod;
  path: string;
  summary: string;
  /** The type of the body, where there is one. */
  takes?: string;
  /** The type of the answer; JSON where nothing is said. */
  answers?: string;
  aliases?: readonly string[];
}

const keys = ['workspace-key', 'user-key'];
const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const scim = 'application/scim+json';
const otlp = 'application/x-protobuf';

const passthrough = (method: HttpMethod): ProtocolRoute => ({
  method,
  path: '/v1/proxy/*path',
  summary: 'Call any path of the provider',
  ...(method !== 'get' && { takes: json }),
});

const mcp = (path: string, whose: string): ProtocolRoute[] => [
  { method: 'post', path, summary: `Send a message to ${whose}`, takes: json },
  { method: 'get', path, summary: `Listen to ${whose}`, answers: 'text/event-stream' },
  { method: 'delete', path, summary: `End a session with ${whose}` },
];

const scimResource = (name: 'Users' | 'Groups', one: string): ProtocolRoute[] => [
  { method: 'get', path: `/v1/scim/${name}`, summary: `List ${one}s` },
  { method: 'post', path: `/v1/scim/${name}`, summary: `Create a ${one}`, takes: scim },
  { method: 'get', path: `/v1/scim/${name}/:id`, summary: `Read a ${one}` },
  { method: 'put', path: `/v1/scim/${name}/:id`, summary: `Replace a ${one}`, takes: scim },
  { method: 'patch', path: `/v1/scim/${name}/:id`, summary: `Change a ${one}`, takes: scim },
  { method: 'delete', path: `/v1/scim/${name}/:id`, summary: `Delete a ${one}` },
];

const scimRoutes: readonly ProtocolRoute[] = [
  { method: 'get', path: '/v1/scim/ServiceProviderConfig', summary: 'Read what this service supports' },
  { method: 'get', path: '/v1/scim/ResourceTypes', summary: 'List the types of resources' },
  { method: 'get', path: '/v1/scim/Schemas', summary: 'List the schemas' },
  ...scimResource('Users', 'user'),
  ...scimResource('Groups', 'group'),
];

const protocols: readonly Protocol[] = [
  {
    tag: 'Passthrough',
    description: 'The path, the query and the body travel as they are; credentials, limits and logs are the gateway’s.',
    callers: keys,
    routes: (['get', 'post', 'put', 'delete'] as const).map(passthrough),
  },
  {
    tag: 'MCP gateway',
    description: 'The Model Context Protocol, Streamable HTTP; docs/mcp.md lists its versions.',
    callers: keys,
    routes: [...mcp('/:serverSlug/mcp', 'an MCP server'), ...mcp('/mcp', 'all MCP servers of the workspace')],
  },
  {
    tag: 'MCP registry',
    description: 'The registry of the Model Context Protocol.',
    callers: ['admin-key', 'workspace-key', 'user-key', 'session'],
    routes: [
      { method: 'get', path: '/v0.1/servers', summary: 'List the MCP servers that this caller can use' },
      { method: 'get', path: '/v0.1/servers/:name/versions', summary: 'List the versions of an MCP server' },
      { method: 'get', path: '/v0.1/servers/:name/versions/:version', summary: 'Read a version of an MCP server' },
    ],
  },
  {
    tag: 'OAuth for MCP clients',
    description: 'OAuth 2.1 with PKCE, dynamic registration (RFC 7591) and resource metadata (RFC 9728).',
    callers: [],
    routes: [
      { method: 'get', path: '/.well-known/oauth-authorization-server', summary: 'Read the metadata of the server' },
      {
        method: 'get',
        path: '/.well-known/oauth-protected-resource/:serverSlug/mcp',
        summary: 'Read the metadata of an MCP server',
        aliases: ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'],
      },
      { method: 'get', path: '/.well-known/jwks.json', summary: 'Read the keys that tokens are signed with' },
      { method: 'post', path: '/oauth/register', summary: 'Register a client', takes: json },
      { method: 'get', path: '/oauth/authorize', summary: 'Ask a person for consent', answers: 'text/html' },
      { method: 'post', path: '/oauth/token', summary: 'Exchange a code or a refresh token', takes: form },
      { method: 'post', path: '/oauth/revoke', summary: 'Revoke a token', takes: form },
      { method: 'post', path: '/oauth/introspect', summary: 'Tell what a token is good for', takes: form },
    ],
  },
  {
    tag: 'Agent gateway',
    description: 'The A2A protocol, as JSON-RPC or HTTP+JSON; docs/agents.md lists its versions and operations.',
    callers: keys,
    routes: [
      {
        method: 'get',
        path: '/v1/agent/:agentServer/.well-known/agent-card.json',
        summary: 'Read the card of an agent',
        aliases: ['/v1/agent/:agentServer/.well-known/agent.json'],
      },
      { method: 'post', path: '/v1/agent/:agentServer', summary: 'Call an agent by JSON-RPC', takes: json },
      { method: 'post', path: '/v1/agent/:agentServer/*operation', summary: 'Call an agent by HTTP', takes: json },
      { method: 'get', path: '/v1/agent/:agentServer/*operation', summary: 'Read from an agent by HTTP' },
      { method: 'delete', path: '/v1/agent/:agentServer/*operation', summary: 'Delete at an agent by HTTP' },
    ],
  },
  {
    tag: 'SCIM protocol',
    description: 'SCIM 2.0 (RFC 7643, RFC 7644), with the organisation’s SCIM token as bearer.',
    callers: ['scim-token'],
    routes: scimRoutes.map((route) => ({ answers: scim, ...route })),
  },
  {
    tag: 'OpenTelemetry',
    description: 'OTLP over HTTP, as protobuf or JSON.',
    callers: ['workspace-key', 'user-key'],
    routes: [
      { method: 'post', path: '/otel/v1/traces', summary: 'Take spans', takes: otlp, aliases: ['/v1/otel/v1/traces'] },
      {
        method: 'post',
        path: '/otel/v1/logs',
        summary: 'Take log records',
        takes: otlp,
        aliases: ['/v1/otel/v1/logs'],
      },
    ],
  },
  {
    tag: 'Metrics',
    description: 'The text format of Prometheus.',
    callers: [],
    routes: [{ method: 'get', path: '/metrics', summary: 'Read the metrics of this node', answers: 'text/plain' }],
  },
];

const any = (type: string) => ({ [type]: { schema: type.endsWith('json') ? {} : { type: 'string' } } });

function operationOf({ tag, description, callers }: Protocol, route: ProtocolRoute): ListedOperation {
  const { method, path, summary, takes, answers = json, aliases = [] } = route;
  return {
    method,
    path: templateOf(path),
    operation: {
      operationId: operationIdFor(method, path),
      tags: [tag],
      summary,
      description,
      parameters: [...path.matchAll(/[:*](\w+)/g)].map(
        ([, name = '']): Parameter => ({ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } }),
      ),
      ...(takes && { requestBody: { required: true, content: any(takes) } }),
      responses: { 200: { description: 'As the protocol says.', content: any(answers) } },
      security: callers.length === 0 ? [] : [{ bearer: [] }, ...(callers.includes('user-key') ? [{ apiKey: [] }] : [])],
      'x-aliases': aliases.map(templateOf),
      'x-callers': [...callers],
      'x-scope': [],
      'x-level': null,
    },
  };
}

export const protocolsDocument = (): DocumentPart => ({
  operations: protocols.flatMap((protocol) => protocol.routes.map((route) => operationOf(protocol, route))),
  schemas: {},
  responses: {},
});
