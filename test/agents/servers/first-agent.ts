/** An agent of A2A's first generation, in a process of its own: `tasks/send`, ids that the client chooses, and the bodies that the samples of that time sent. */
import { createServer, type ServerResponse } from 'node:http';

interface Sent {
  id: string;
  sessionId?: string;
  message: { role: string; parts: { type: string; text: string }[] };
}

const tasks = new Map<string, object>();
const pushes = new Map<string, object>();

const said = (text: string) => ({ role: 'agent', parts: [{ type: 'text', text }] });
const artifact = (text: string) => ({ name: 'answer', parts: [{ type: 'text', text }], index: 0 });

function worked({ id, sessionId, message }: Sent) {
  const text = message.parts.map((part) => part.text).join(' ');
  const task = {
    id,
    sessionId: sessionId ?? null,
    status: { state: 'completed', message: said(`done: ${text}`), timestamp: '2025-04-10T10:00:00.000Z' },
    artifacts: [artifact(`done: ${text}`)],
    history: [message],
  };
  tasks.set(id, task);
  return task;
}

function stream(response: ServerResponse, rpcId: unknown, sent: Sent): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const tell = (result: object) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: rpcId, result })}\n\n`);
  const { id, status, artifacts } = worked(sent);
  tell({ id, status: { state: 'working', timestamp: status.timestamp }, final: false });
  for (const one of artifacts) tell({ id, artifact: { ...one, lastChunk: true } });
  tell({ id, status, final: true });
  response.end();
}

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/.well-known/agent.json') {
      return json({
        name: 'First agent',
        description: 'Works on tasks',
        url: `http://127.0.0.1:${port}`,
        version: '1.0.0',
        authentication: { schemes: ['bearer'], credentials: null },
        capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [{ id: 'work', name: 'Work', description: 'Works', tags: ['work'], examples: ['Work'] }],
      });
    }
    if (request.url !== '/' || request.method !== 'POST') return json({ error: 'not found' }, 404);
    const { id, method, params } = JSON.parse(body);
    const answer = (result: unknown) => json({ jsonrpc: '2.0', id, result });
    const known = tasks.get(params.id);
    if (method === 'tasks/send') return answer(worked(params));
    if (method === 'tasks/sendSubscribe' || method === 'tasks/resubscribe') {
      return stream(response, id, { message: { role: 'user', parts: [] }, ...params });
    }
    if (!known) return json({ jsonrpc: '2.0', id, error: { code: -32001, message: 'Task not found', data: null } });
    if (method === 'tasks/get') return answer(known);
    if (method === 'tasks/cancel')
      return json({ jsonrpc: '2.0', id, error: { code: -32002, message: 'Task cannot be canceled', data: null } });
    if (method === 'tasks/pushNotification/set') pushes.set(params.id, params);
    answer(pushes.get(params.id) ?? null);
  });
});
server.listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const address = server.address();
const port = typeof address === 'object' && address ? address.port : 0;
process.stdout.write(`${JSON.stringify({ port })}\n\n`);
