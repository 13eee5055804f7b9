/** A server of both eras that passes the protocol's conformance suite, on the official SDK, as a process of its own. */
import { randomBytes } from 'node:crypto';
import {
  createMcpHandler,
  createRequestStateCodec,
  type EventStore,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { addAsking, type Progress } from './asking.ts';
import { addPlain } from './plain.ts';

const states = createRequestStateCodec<Progress>({ key: randomBytes(32) });

function newServer(era: 'legacy' | 'modern'): McpServer {
  const server = new McpServer(
    { name: 'conformance-server', version: '1.0.0' },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      requestState: { verify: states.verify },
    },
  );
  addPlain(server);
  addAsking(server, era, states);
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
    return server;
  }
  const change = (name: string, tell: () => void) =>
    server.registerTool(`test_trigger_${name}_change`, { description: 'Tells of a change' }, () => {
      tell();
      return { content: [{ type: 'text', text: 'told' }] };
    });
  change('tool', () => modern.notify.toolsChanged());
  change('prompt', () => modern.notify.promptsChanged());
  return server;
}

const modern = createMcpHandler(() => newServer('modern'), { legacy: 'reject' });

/** Events of streams that were closed early, for the client that comes back. */
class Events implements EventStore {
  readonly #events: { id: string; stream: string; message: Parameters<EventStore['storeEvent']>[1] }[] = [];

  async storeEvent(stream: string, message: Parameters<EventStore['storeEvent']>[1]): Promise<string> {
    const id = `${stream}/${this.#events.length}`;
    this.#events.push({ id, stream, message });
    return id;
  }

  async replayEventsAfter(lastId: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]): Promise<string> {
    const last = this.#events.findIndex(({ id }) => id === lastId);
    const stream = this.#events[last]?.stream ?? '';
    for (const { id, stream: of, message } of this.#events.slice(last + 1)) {
      if (of === stream && 'jsonrpc' in message) await send(id, message);
    }
    return stream;
  }
}

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function legacy(request: Request): Promise<Response> {
  const id = request.headers.get('mcp-session-id');
  const known = id === null ? undefined : sessions.get(id);
  if (known) return known.handleRequest(request);
  if (id !== null) return new Response('unknown session', { status: 404 });
  const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    eventStore: new Events(),
    retryInterval: 200,
    onsessioninitialized: (made) => void sessions.set(made, transport),
    onsessionclosed: (ended) => void sessions.delete(ended),
  });
  await newServer('legacy').connect(transport);
  return transport.handleRequest(request);
}

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins());
    if (refused) return refused;
    return (await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request);
  },
});
process.stdout.write(`${JSON.stringify({ port: served.port })}\n`);
