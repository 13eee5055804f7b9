/** An MCP server of the session era with tasks, on the official SDK, as a process of its own. It shares its tasks between all sessions, and tells each of every task. */
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { z } from 'zod';

type Create = Parameters<InMemoryTaskStore['createTask']>;

/** Without sessions: one credential, one heap of tasks. */
class SharedTasks extends InMemoryTaskStore {
  override createTask(...[params, requestId, request]: Create): ReturnType<InMemoryTaskStore['createTask']> {
    return super.createTask(params, requestId, request);
  }
}

const tasks = new SharedTasks();
const servers = new Map<string, { server: McpServer; transport: WebStandardStreamableHTTPServerTransport }>();

async function told(taskId: string): Promise<void> {
  const task = await tasks.getTask(taskId);
  if (!task) return;
  for (const { server } of servers.values()) {
    await server.server.notification({ method: 'notifications/tasks/status', params: task });
  }
}

function newServer(): McpServer {
  const server = new McpServer(
    { name: 'session-task-server', version: '1.0.0' },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore: tasks,
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  const add = (name: string, ends: boolean) =>
    server.experimental.tasks.registerToolTask(
      name,
      { description: name, inputSchema: { text: z.string() }, execution: { taskSupport: 'required' } },
      {
        async createTask({ text }, { taskStore }) {
          const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
          if (!ends) return { task };
          const result = { content: [{ type: 'text' as const, text: `did ${text}` }] };
          setTimeout(() => tasks.storeTaskResult(task.taskId, 'completed', result).then(() => told(task.taskId)), 50);
          return { task };
        },
        getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: async (_, { taskId, taskStore }) => ({
          content: [],
          ...(await taskStore.getTaskResult(taskId)),
        }),
      },
    );
  add('work', true);
  add('endless', false);
  return server;
}

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : servers.get(id);
    if (known) return known.transport.handleRequest(request);
    if (id !== null) return new Response('unknown session', { status: 404 });
    const server = newServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (made) => void servers.set(made, { server, transport }),
      onsessionclosed: (ended) => void servers.delete(ended),
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  },
});
process.stdout.write(`${JSON.stringify({ port: served.port })}\n`);
