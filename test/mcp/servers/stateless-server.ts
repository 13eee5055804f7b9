/** A real MCP server of the stateless era as a process of its own, on the official SDK. */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: 'stateless-server', version: '2.0.0' }, { instructions: 'Ask away.' });
    server.registerTool(
      'echo',
      {
        description: 'Says what it was told',
        inputSchema: z.object({ text: z.string() }),
        annotations: { readOnlyHint: true },
      },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
    server.registerTool('secret', { description: 'Not for everybody' }, async () => ({
      content: [{ type: 'text', text: 'secret' }],
    }));
    return server;
  },
  { legacy: 'reject' },
);

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: (request) => handler.fetch(request),
});
process.stdout.write(`${JSON.stringify({ port: served.port })}\n`);
