/** An MCP server that wants each person to sign in, with a real authorization server (oidc-provider) beside it, in one process. */
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import Provider from 'oidc-provider';
import { z } from 'zod';

const port = Number(process.argv[2]);
const origin = `http://127.0.0.1:${port}`;
const resource = `${origin}/mcp`;

const provider = new Provider(origin, {
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'use',
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: 'opaque',
      }),
    },
  },
  clientDefaults: { token_endpoint_auth_method: 'none' },
  pkce: { required: () => true },
  ttl: {
    AccessToken: 3600,
    RefreshToken: 86_400,
    Grant: 86_400,
    Session: 86_400,
    Interaction: 600,
    AuthorizationCode: 60,
  },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
});

/** Whoever comes is signed in as the person that the header names, and allows everything. */
async function interaction(
  request: import('node:http').IncomingMessage,
  response: import('node:http').ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const accountId = String(request.headers['x-person'] ?? 'somebody');
  const grant = new provider.Grant({ accountId, clientId: String(details.params.client_id) });
  grant.addOIDCScope('openid offline_access');
  grant.addResourceScope(resource, 'use');
  const grantId = await grant.save();
  await provider.interactionFinished(
    request,
    response,
    { login: { accountId }, consent: { grantId } },
    { mergeWithLastSubmission: false },
  );
}

/** Who called, with which token, in whose session, and what they said. */
interface Call {
  account: string;
  /** Who opened the session that the call came in. */
  opener: string;
  said: string;
}

const calls: Call[] = [];
const sessions = new Map<string, { account: string; transport: StreamableHTTPServerTransport }>();

/** A session on behalf of whoever opens it; each call is noted with the person that the token names. */
async function openedBy(account: string): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: 'private-server', version: '1.0.0' });
  server.registerTool('whoami', { description: 'Who is signed in' }, async ({ authInfo }) => ({
    content: [{ type: 'text', text: authInfo?.clientId ?? account }],
  }));
  server.registerTool(
    'say',
    { description: 'Says it back', inputSchema: { text: z.string() } },
    async ({ text }, { authInfo }) => {
      calls.push({ account: authInfo?.clientId ?? '', opener: account, said: text });
      return { content: [{ type: 'text', text: `${authInfo?.clientId} said ${text}` }] };
    },
  );
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    enableJsonResponse: true,
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, { account, transport }),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await server.connect(transport as Parameters<McpServer['connect']>[0]);
  return transport;
}

async function mcp(
  request: import('node:http').IncomingMessage,
  response: import('node:http').ServerResponse,
): Promise<void> {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const token = bearer ? await provider.AccessToken.find(bearer) : undefined;
  if (!token || !bearer) {
    response
      .writeHead(401, {
        'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
      })
      .end();
    return;
  }
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (id !== undefined && !known) {
    response.writeHead(404).end('unknown session');
    return;
  }
  const transport = known?.transport ?? (await openedBy(token.accountId));
  const auth = { token: bearer, clientId: token.accountId, scopes: [] };
  await transport.handleRequest(Object.assign(request, { auth }), response);
}

/** Every token that was made out, for tests that look where they must not be. */
const issued = new Set<string>();
const note = ({ jti }: { jti: string }) => void issued.add(jti);
provider.on('access_token.issued', note);
provider.on('access_token.saved', note);
provider.on('refresh_token.saved', note);
let isIll = false;

/** What only the test asks of this process. */
async function control(path: string): Promise<unknown> {
  if (path === '/control/calls') return calls;
  if (path === '/control/sessions') return [...sessions.keys()];
  if (path === '/control/ill') isIll = true;
  if (path === '/control/well') isIll = false;
  if (path === '/control/expire' || path === '/control/revoke') {
    for (const value of issued) await (await provider.AccessToken.find(value))?.destroy();
  }
  if (path === '/control/revoke') {
    for (const value of issued) await (await provider.RefreshToken.find(value))?.destroy();
  }
  return [...issued];
}

const callback = provider.callback();
createServer((request, response) => {
  const path = request.url ?? '';
  if (path.startsWith('/mcp')) void mcp(request, response);
  else if (path.startsWith('/interaction/')) void interaction(request, response);
  else if (path.startsWith('/control/')) void control(path).then((told) => response.end(JSON.stringify(told)));
  else if (path.startsWith('/token') && isIll) response.writeHead(503).end('ill');
  else if (path.startsWith('/.well-known/oauth-protected-resource')) {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ resource, authorization_servers: [origin], scopes_supported: ['use', 'offline_access'] }));
  } else callback(request, response);
}).listen(port, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port })}\n`));
