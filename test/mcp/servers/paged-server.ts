/** An MCP server as a process of its own that lists many tools over many pages, some of them empty. */
import { z } from 'zod';

const messageForm = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ cursor: z.string().optional(), name: z.string().optional() }).optional(),
});

const pageSize = 100;
const tools = Array.from({ length: 900 }, (_, n) => ({
  name: `tool_${String(n).padStart(3, '0')}`,
  inputSchema: { type: 'object' },
}));

/** Every other page holds nothing but the way to the next. */
function page(cursor: string | undefined): object {
  const at = Number(cursor ?? 0);
  const isEmpty = at % 2 === 1;
  const start = (at / 2) * pageSize;
  const last = at / 2 >= tools.length / pageSize - 1;
  return {
    tools: isEmpty ? [] : tools.slice(start, start + pageSize),
    ...(!last && { nextCursor: String(at + 1) }),
  };
}

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = messageForm.parse(await request.json());
    if (id === undefined) return new Response(null, { status: 202 });
    const answer = (result: object) => Response.json({ jsonrpc: '2.0', id, result });
    if (method === 'initialize') {
      const serverInfo = { name: 'paged', version: '1' };
      return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
    }
    if (method === 'tools/list') return answer(page(params?.cursor));
    if (method === 'tools/call') return answer({ content: [{ type: 'text', text: String(params?.name) }] });
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  },
});
process.stdout.write(`${JSON.stringify({ port: served.port })}\n`);
