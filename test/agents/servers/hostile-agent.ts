/** An agent that misbehaves, in a process of its own: each first path segment is another way of doing it. */
import { createServer, type ServerResponse } from 'node:http';

const card = { name: 'Hostile agent', url: 'http://127.0.0.1/x', protocolVersion: '0.3.0', skills: [] };
const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof value === 'string' ? value : JSON.stringify(value));
};
/** `size` bytes of a card. */
const cardOf = (size: number): string => {
  const bare = JSON.stringify({ ...card, description: '' });
  return JSON.stringify({ ...card, description: 'x'.repeat(size - bare.length) });
};
const megabyte = 1024 * 1024;
let seen: Record<string, unknown>[] = [];
/** How `moody` answers: `failing`, `silent` or `echo`; `/mood/...` sets it. */
let mood = 'failing';

const cards: Record<string, (response: ServerResponse) => void> = {
  fits: (response) => json(response, cardOf(megabyte)),
  'too-large': (response) => json(response, cardOf(megabyte + 1)),
  array: (response) => json(response, [card]),
  nameless: (response) => json(response, { ...card, name: undefined }),
  addressless: (response) => json(response, { ...card, url: undefined }),
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>Sign in</html>');
  },
  deep: (response) => json(response, `${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  'private-redirect': (response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' });
    response.end();
  },
  hanging: () => undefined,
  dripping: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"name":');
  },
  refused: (response) => {
    response.writeHead(503);
    response.end('busy');
  },
};

const answers: Record<string, (response: ServerResponse, id: unknown) => void> = {
  silent: () => undefined,
  flood: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  },
  'flood-stream': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: ');
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  },
  'cut-stream': (response, id) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const result = { kind: 'task', id: 'cut-task', contextId: 'cut-context', status: { state: 'working' } };
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\ndata: {"half":`);
    setTimeout(() => response.destroy(), 20);
  },
  'private-redirect': (response) => {
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' });
    response.end();
  },
  'other-origin': (response) => {
    response.writeHead(307, { location: `http://localhost:${port}/echo` });
    response.end();
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>canary-page</html>');
  },
  unauthorized: (response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="canary-realm"' });
    response.end('canary-body');
  },
  failing: (response) => {
    response.writeHead(500);
    response.end('boom');
  },
  echo: (response, id) =>
    json(response, {
      jsonrpc: '2.0',
      id,
      result: { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'ok' }] },
    }),
};

const server = createServer((request, response) => {
  const [, way = '', ...rest] = (request.url ?? '').split('/');
  if (way === 'mood') {
    mood = rest[0] ?? '';
    return json(response, mood);
  }
  if (way === 'seen') {
    json(response, seen);
    seen = [];
    return;
  }
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    seen.push({ url: request.url, headers: request.headers, body: body.slice(0, 2_000) });
    if (rest.join('/').startsWith('.well-known/')) {
      if (way === 'second' && rest[1] === 'agent-card.json') response.writeHead(404).end();
      else if (cards[way]) cards[way](response);
      else json(response, { ...card, url: `http://127.0.0.1:${port}/${way}` });
      return;
    }
    const { id = null } = body.startsWith('{') ? JSON.parse(body) : {};
    (answers[way === 'moody' ? mood : way] ?? answers.echo)?.(response, id);
  });
});
server.listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const address = server.address();
const port = typeof address === 'object' && address ? address.port : 0;
process.stdout.write(`${JSON.stringify({ port })}\n\n`);
