/** A bare MCP server of the session era for the benchmark: answers as fast as it can, and keeps streams open. */
import { z } from 'zod';

const callForm = z.looseObject({ id: z.union([z.string(), z.number()]).optional(), method: z.string().optional() });

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', description: 'Echoes', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'The answer is the same each time.' }] },
};

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === 'DELETE') return new Response(null, { status: 204 });
    if (request.method === 'GET') return new Response(silent(), { headers: { 'content-type': 'text/event-stream' } });
    const { id, method = '' } = callForm.parse(await request.json());
    if (id === undefined) return new Response(null, { status: 202 });
    const result = results[method];
    if (!result) return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    const headers = method === 'initialize' ? { 'mcp-session-id': crypto.randomUUID() } : {};
    return Response.json({ jsonrpc: '2.0', id, result }, { headers });
  },
});

const silent = (): ReadableStream<string> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(': open\n\n');
    },
  });

process.stdout.write(`listening at ${served.port}\n`);
