/** An MCP server that misbehaves, in a process of its own: each path is another way of doing it. */
import { createServer, type ServerResponse } from 'node:http';
import { z } from 'zod';

const messageForm = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ name: z.string().optional() }).optional(),
});

const json = (response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Writes without end, as fast as it is read. */
function flood(response: ServerResponse, type: string, opening: string): void {
  response.writeHead(200, { 'content-type': type });
  response.write(opening);
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

/** What a call of the tool of this name gets. */
const answers: Record<string, (response: ServerResponse, id: string | number) => void> = {
  hangs: () => undefined,
  drips: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":'),
  floods: (response) => flood(response, 'application/json', '{"jsonrpc": "2.0", "result": "'),
  'floods-events': (response) => flood(response, 'text/event-stream', 'data: '),
  html: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  resets: (response) => void response.socket?.resetAndDestroy(),
  fails: (response) => void response.writeHead(500).end('broken'),
  busy: (response) => void response.writeHead(429, { 'retry-after': '7' }).end('busy'),
  redirects: (response) => void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  'answers-another': (response) => json(response, { jsonrpc: '2.0', id: 'another', result: { content: [] } }),
  deep: (response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  'stops-early': (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing more\n\n'),
  refuses: (response, id) =>
    json(response, { jsonrpc: '2.0', id, error: { code: -31999, message: 'not today', data: { because: 'rain' } } }),
  works: (response, id) =>
    json(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'works' }] } }),
};

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method, params } = messageForm.parse(JSON.parse(Buffer.concat(chunks).toString()));
  if (id === undefined) return response.writeHead(202).end();
  if (method === 'initialize') {
    const serverInfo = { name: 'hostile', version: '1' };
    return json(response, {
      jsonrpc: '2.0',
      id,
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
    });
  }
  if (method === 'tools/list') {
    const tools = Object.keys(answers).map((name) => ({ name, inputSchema: { type: 'object' } }));
    return json(response, { jsonrpc: '2.0', id, result: { tools } });
  }
  return answers[params?.name ?? '']?.(response, id);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`${JSON.stringify({ port: address?.port })}\n`);
});
