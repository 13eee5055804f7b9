/** The agent that A2A's test kit expects, on the official SDK's server, in a process of its own: the beginning of a message's id says what to do. It speaks 1.0 and 0.3, JSON-RPC and HTTP+JSON. */
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
const server = app.listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const address = server.address();
const at = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';

const card = AgentCard.fromJSON({
  name: 'Agent of the test kit',
  description: 'Does what the id of a message says',
  version: '1.0.0',
  provider: { organization: 'Example', url: 'https://example.com' },
  supportedInterfaces: ['1.0', '0.3'].flatMap((protocolVersion) => [
    { url: at, protocolBinding: 'JSONRPC', protocolVersion },
    { url: `${at}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
  ]),
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'tck', name: 'Test kit', description: 'Answers the test kit', tags: ['tck'] }],
});

/** A step of a scenario: a state to report, or the parts of an artifact. */
type Step = string | { parts: object[]; append?: boolean; lastChunk?: boolean };

const text = (value: string): Step => ({ parts: [{ text: value }] });
const file = { filename: 'output.txt', mediaType: 'text/plain' };
const raw: Step = { parts: [{ raw: Buffer.from('tck').toString('base64'), ...file }] };

/** The first whose name begins the id of the message. */
const scenarios: Record<string, readonly Step[]> = {
  'tck-artifact-text': [text('Generated text content'), 'COMPLETED'],
  'tck-artifact-file-url': [{ parts: [{ url: 'https://example.com/output.txt', ...file }] }, 'COMPLETED'],
  'tck-artifact-file': [raw, 'COMPLETED'],
  'tck-artifact-data': [{ parts: [{ data: { key: 'value', count: 42 } }] }, 'COMPLETED'],
  'tck-input-required': ['INPUT_REQUIRED'],
  'tck-reject-task': ['REJECTED'],
  'tck-stream-001': ['WORKING', text('Stream hello from TCK'), 'COMPLETED'],
  'tck-stream-003': ['WORKING', text('Stream task lifecycle'), 'COMPLETED'],
  'tck-stream-ordering-001': ['WORKING', text('Ordered output'), 'COMPLETED'],
  'tck-stream-artifact-text': ['WORKING', text('Streamed text content'), 'COMPLETED'],
  'tck-stream-artifact-file': ['WORKING', raw, 'COMPLETED'],
  'tck-stream-artifact-chunked': [
    'WORKING',
    { parts: [{ text: 'chunk-1 ' }] },
    { parts: [{ text: 'chunk-2' }], append: true, lastChunk: true },
    'COMPLETED',
  ],
  'test-resubscribe-message-id': ['WORKING', 'wait', 'COMPLETED'],
  // Those of 0.3 are told by no scenario: the task waits for more, so that it can be cancelled and continued.
  'test-': ['WORKING', 'INPUT_REQUIRED'],
};
const waitMs = 4_000;

class Executor implements AgentExecutor {
  readonly #cancelled = new Set<string>();

  async execute(
    { taskId, contextId, userMessage, task }: RequestContext,
    bus: Parameters<AgentExecutor['execute']>[1],
  ): Promise<void> {
    const { messageId } = userMessage;
    const said = (words: string) => ({
      messageId: randomUUID(),
      role: 'ROLE_AGENT',
      parts: [{ text: words }],
      contextId,
    });
    if (messageId.startsWith('tck-message-response')) {
      bus.publish(AgentEvent.message(Message.fromJSON(said('Direct message response'))));
      return bus.finished();
    }
    const status = (state: string) => ({ state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() });
    const update = (state: string) =>
      bus.publish(
        AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: status(state) })),
      );
    const begun = task ?? Task.fromJSON({ id: taskId, contextId, status: status('SUBMITTED'), history: [] });
    bus.publish(AgentEvent.task({ ...begun, history: [...begun.history, userMessage] }));
    const name = Object.keys(scenarios).find((start) => messageId.startsWith(start)) ?? '';
    for (const step of scenarios[name] ?? ['COMPLETED']) {
      if (this.#cancelled.has(taskId)) break;
      if (step === 'wait') await new Promise((resolve) => setTimeout(resolve, waitMs));
      else if (typeof step === 'string') update(step);
      else {
        const { parts, ...chunk } = step;
        const artifact = { artifactId: 'output', parts };
        bus.publish(
          AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, artifact, ...chunk })),
        );
      }
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: Parameters<AgentExecutor['cancelTask']>[1]): Promise<void> {
    this.#cancelled.add(taskId);
    const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })));
    bus.finished();
  }
}

const requestHandler = new DefaultRequestHandler(
  card,
  new InMemoryTaskStore(),
  new Executor(),
  undefined,
  new InMemoryPushNotificationStore(),
  undefined,
  async () => card,
);
const legacyCompat = { enabled: true };
const userBuilder = UserBuilder.noAuthentication;
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
app.use('/rest', restHandler({ requestHandler, userBuilder, legacyCompat }));
app.use('/', jsonRpcHandler({ requestHandler, userBuilder, legacyCompat }));

process.stdout.write(`${JSON.stringify({ port: Number(new URL(at).port) })}\n\n`);
