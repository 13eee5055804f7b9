/** A sample agent on the official SDK's server, in a process of its own. It speaks 1.0 and 0.3, JSON-RPC and HTTP+JSON. */
import { randomUUID } from 'node:crypto';
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const app = express();
const port = Number(process.argv[2] ?? 0);
const server = app.listen(port, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const address = server.address();
const at = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';

const interfaces = ['1.0', '0.3'].flatMap((protocolVersion) => [
  { url: `${at}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion },
  { url: `${at}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
  { url: `${at}/a2a/grpc`, protocolBinding: 'GRPC', protocolVersion },
]);

const card = (description: string) =>
  AgentCard.fromJSON({
    name: 'Sample agent',
    description,
    version: '1.2.3',
    documentationUrl: `${at}/docs`,
    supportedInterfaces: interfaces,
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: { upstream: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    securityRequirements: [{ schemes: { upstream: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      { id: 'echo', name: 'Echo', description: 'Says it again', tags: ['talk'], examples: ['hello'] },
      { id: 'tasks', name: 'Tasks', description: 'Works on it', tags: ['work'] },
    ],
  });

/** What arrived last, for tests of what is forwarded. */
let lastHeaders: Record<string, unknown> = {};
/** Streams that their readers left before they ended. */
let left = 0;

const textOf = ({ userMessage }: RequestContext): string =>
  userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(' ');

class Executor implements AgentExecutor {
  readonly #waiting = new Map<string, () => void>();

  async execute(context: RequestContext, bus: Parameters<AgentExecutor['execute']>[1]): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const asked = textOf(context);
    const said = (text: string) => ({ messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }], contextId });
    const status = (state: string, text?: string) => ({
      state: `TASK_STATE_${state}`,
      timestamp: new Date().toISOString(),
      ...(text !== undefined && { message: { ...said(text), taskId } }),
    });
    if (!task && !/^(task|wait|ask|slow)\b/.test(asked)) {
      bus.publish(AgentEvent.message(Message.fromJSON(said(`echo: ${asked}`))));
      bus.finished();
      return;
    }
    const update = (state: string, text?: string) =>
      bus.publish(
        AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: status(state, text) })),
      );
    const begun = task ?? Task.fromJSON({ id: taskId, contextId, status: status('SUBMITTED'), history: [] });
    bus.publish(AgentEvent.task({ ...begun, history: [...begun.history, userMessage] }));
    update('WORKING');
    if (asked.startsWith('wait')) {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      update('CANCELED');
    } else if (asked.startsWith('ask') && !task) update('INPUT_REQUIRED', 'Which one?');
    else {
      const artifact = { artifactId: 'a1', parts: [{ text: `done: ${asked}` }] };
      bus.publish(
        AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, artifact, lastChunk: true })),
      );
      update('COMPLETED', `finished: ${asked}`);
    }
    bus.finished();
  }

  cancelTask = async (taskId: string): Promise<void> => this.#waiting.get(taskId)?.();
}

const handler = new DefaultRequestHandler(
  card('An agent for tests'),
  new InMemoryTaskStore(),
  new Executor(),
  undefined,
  new InMemoryPushNotificationStore(),
  undefined,
  async () => card('An agent for tests, told in full'),
);

const legacyCompat = { enabled: true };
const userBuilder = UserBuilder.noAuthentication;
app.use((request, response, next) => {
  if (!request.path.startsWith('/seen')) lastHeaders = { ...request.headers, path: request.originalUrl };
  response.on('close', () => {
    if (!response.writableFinished) left++;
  });
  next();
});
app.get('/seen', (_, response) => void response.json({ headers: lastHeaders, left }));
app.use('/custom', (request, response) => {
  response.set('link', `<${at}/next>`).json({ method: request.method, path: request.originalUrl });
});
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler, legacyCompat }));
app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler: handler, userBuilder, legacyCompat }));
app.use('/a2a/rest', restHandler({ requestHandler: handler, userBuilder, legacyCompat }));

process.stdout.write(`${JSON.stringify({ port: Number(new URL(at).port) })}\n\n`);
