/** An MCP server of the stateless era with the extension for tasks, as a process of its own. It knows every caller by one credential, and tells each of every task. */
import { z } from 'zod';

const extension = 'io.modelcontextprotocol/tasks';
const prefix = 'io.modelcontextprotocol/';

const messageForm = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z
    .looseObject({
      name: z.string().optional(),
      taskId: z.string().optional(),
      arguments: z.record(z.string(), z.unknown()).optional(),
      inputResponses: z.record(z.string(), z.unknown()).optional(),
      notifications: z.looseObject({ taskIds: z.array(z.string()).optional() }).optional(),
      _meta: z.looseObject({}).optional(),
    })
    .default({}),
});
type Params = z.infer<typeof messageForm>['params'];

class Refusal extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: object | undefined;
  constructor(code: number, status: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

interface Task {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number;
  pollIntervalMs: number;
  result?: object;
  error?: object;
  inputRequests?: Record<string, object>;
}

const tasks = new Map<string, Task>();
const followers = new Set<(task: Task) => void>();

function changed(task: Task, more: Partial<Task>): void {
  if (task.status === 'completed' || task.status === 'failed' || task.status === 'cancelled') return;
  Object.assign(task, more, { lastUpdatedAt: new Date().toISOString() });
  for (const tell of followers) tell(task);
}

function begun(work: (task: Task) => void): object {
  const at = new Date().toISOString();
  const task: Task = {
    taskId: crypto.randomUUID(),
    status: 'working',
    createdAt: at,
    lastUpdatedAt: at,
    ttlMs: 60_000,
    pollIntervalMs: 100,
  };
  tasks.set(task.taskId, task);
  const created = { resultType: 'task', ...task };
  work(task);
  return created;
}

const text = (said: string, isError = false) => ({
  content: [{ type: 'text', text: said }],
  ...(isError && { isError: true }),
});
const question = (message: string) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
});

/** What a tool does; `isAsync`: the client knows tasks. */
const tools: Record<string, (params: Params, isAsync: boolean) => object> = {
  greet: ({ arguments: given }) => ({ resultType: 'complete', ...text(`Hello, ${given?.name}!`) }),
  slow_compute({ arguments: given }, isAsync) {
    const seconds = Number(given?.seconds ?? 0);
    const result = text(`computed ${given?.label ?? ''}`);
    if (!isAsync || seconds === 0) return { resultType: 'complete', ...result };
    return begun((task) => {
      setTimeout(() => changed(task, { status: 'completed', result }), seconds * 1_000).unref();
    });
  },
  failing_job: needsTasks((task) =>
    setTimeout(() => changed(task, { status: 'completed', result: text('the job failed', true) }), 100),
  ),
  protocol_error_job: needsTasks((task) =>
    setTimeout(() => changed(task, { status: 'failed', error: { code: -32603, message: 'broken' } }), 100),
  ),
  confirm_delete: needsTasks((task) =>
    changed(task, { status: 'input_required', inputRequests: { confirm: question('Delete it?') } }),
  ),
  multi_input: needsTasks((task) =>
    changed(task, {
      status: 'input_required',
      inputRequests: { first: question('First?'), second: question('Second?') },
    }),
  ),
  test_tool_with_task(params, isAsync) {
    const answer = z
      .object({ user_name: z.looseObject({ content: z.record(z.string(), z.unknown()).optional() }) })
      .safeParse(params.inputResponses);
    if (!answer.success) {
      return {
        resultType: 'input_required',
        inputRequests: { user_name: question('Your name?') },
        requestState: 'one',
      };
    }
    const said = JSON.stringify(answer.data.user_name.content);
    return needsTasks((task) => setTimeout(() => changed(task, { status: 'completed', result: text(said) }), 50))(
      params,
      isAsync,
    );
  },
};

function needsTasks(work: (task: Task) => void): (params: Params, isAsync: boolean) => object {
  return (_, isAsync) => {
    requireExtension(isAsync);
    return begun(work);
  };
}

function requireExtension(isAsync: boolean): void {
  const required = { requiredCapabilities: { extensions: { [extension]: {} } } };
  if (!isAsync) throw new Refusal(-32021, 400, 'Missing required client capability', required);
}

function taskOf({ taskId }: Params): Task {
  const task = tasks.get(taskId ?? '');
  if (!task) throw new Refusal(-32602, 200, 'Failed to retrieve task: Task not found');
  return task;
}

function updated(task: Task, responses: Record<string, unknown>): void {
  const left = Object.fromEntries(Object.entries(task.inputRequests ?? {}).filter(([key]) => !(key in responses)));
  if (Object.keys(left).length > 0) {
    changed(task, { inputRequests: left });
    return;
  }
  changed(task, { status: 'completed', result: text(`answered ${JSON.stringify(responses)}`) });
  delete task.inputRequests;
}

const taskMethods: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
const capabilitiesForm = z.looseObject({ extensions: z.record(z.string(), z.unknown()).optional() });
const hasExtension = ({ _meta }: Params): boolean =>
  extension in (capabilitiesForm.safeParse(_meta?.[`${prefix}clientCapabilities`]).data?.extensions ?? {});

function resultOf(method: string, params: Params): object {
  const isAsync = hasExtension(params);
  if (method === 'server/discover') {
    return {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, extensions: { [extension]: {} } },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [`${prefix}serverInfo`]: { name: 'task-server', version: '1.0.0' } },
    };
  }
  if (method === 'tools/list') {
    const list = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }));
    return { resultType: 'complete', tools: list, ttlMs: 0, cacheScope: 'private' };
  }
  if (method === 'tools/call') {
    const tool = tools[params.name ?? ''];
    if (!tool) throw new Refusal(-32602, 200, `Unknown tool: ${params.name}`);
    return tool(params, isAsync);
  }
  if (!taskMethods.has(method)) throw new Refusal(-32601, 404, `Method not found: ${method}`);
  requireExtension(isAsync);
  const task = taskOf(params);
  if (method === 'tasks/get') return { resultType: 'complete', ...task };
  if (method === 'tasks/cancel') changed(task, { status: 'cancelled' });
  else updated(task, params.inputResponses ?? {});
  return { resultType: 'complete' };
}

/** Every task is told to every follower: it is the gateway that must know whose it is. */
function followed(id: string | number, params: Params): Response {
  if ((params.notifications?.taskIds?.length ?? 0) > 0) requireExtension(hasExtension(params));
  const encoder = new TextEncoder();
  let leave = () => undefined as unknown;
  const body = new ReadableStream({
    start(controller) {
      const tell = (method: string, told: object) => {
        const meta = { [`${prefix}subscriptionId`]: id };
        const message = { jsonrpc: '2.0', method, params: { ...told, _meta: meta } };
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(message)}\n\n`));
      };
      const follow = (task: Task) => tell('notifications/tasks', task);
      tell('notifications/subscriptions/acknowledged', { notifications: params.notifications ?? {} });
      followers.add(follow);
      leave = () => followers.delete(follow);
    },
    cancel: () => void leave(),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function checkHeaders(headers: Headers, method: string, { name, taskId }: Params): void {
  const expected = method === 'tools/call' ? name : taskMethods.has(method) ? taskId : undefined;
  if (headers.get('mcp-method') !== method || (expected !== undefined && headers.get('mcp-name') !== expected)) {
    throw new Refusal(-32020, 400, 'Header mismatch');
  }
}

const served = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = messageForm.parse(await request.json());
    try {
      checkHeaders(request.headers, method, params);
      if (method === 'subscriptions/listen') return followed(id, params);
      return Response.json({ jsonrpc: '2.0', id, result: resultOf(method, params) });
    } catch (fault) {
      if (!(fault instanceof Refusal)) throw fault;
      const { code, message, data, status } = fault;
      return Response.json({ jsonrpc: '2.0', id, error: { code, message, data } }, { status });
    }
  },
});
process.stdout.write(`${JSON.stringify({ port: served.port })}\n`);
