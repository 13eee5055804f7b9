/** An agent on an official SDK of A2A 0.2, in a process of its own. The first argument is the folder that the SDK was installed into. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Context {
  userMessage: { messageId: string; parts: { text?: string }[] };
  taskId: string;
  contextId: string;
}
interface Bus {
  publish(event: object): void;
  finished(): void;
}
/** What of the SDK is used; its types are not installed with the program. */
interface OldSdk {
  DefaultRequestHandler: new (card: object, tasks: object, executor: object) => object;
  InMemoryTaskStore: new () => object;
  A2AExpressApp: new (handler: object) => { setupRoutes(app: object): { listen(port: number, host: string): Server } };
}
interface Server {
  once(event: 'listening', then: () => void): void;
  address(): { port: number };
}

const packages = createRequire(join(process.argv[2] ?? '', 'package.json'));
const entry = join(process.argv[2] ?? '', 'node_modules/@a2a-js/sdk/dist/server/index.js');
const { DefaultRequestHandler, InMemoryTaskStore, A2AExpressApp }: OldSdk = await import(pathToFileURL(entry).href);
const express: () => object = packages('express');

const cancelled = new Map<string, () => void>();
const executor = {
  async execute({ userMessage, taskId, contextId }: Context, bus: Bus): Promise<void> {
    const text = userMessage.parts.map((part) => part.text ?? '').join(' ');
    const said = (words: string) => ({
      kind: 'message',
      messageId: randomUUID(),
      role: 'agent',
      parts: [{ kind: 'text', text: words }],
      contextId,
    });
    if (!text.startsWith('task') && !text.startsWith('wait')) {
      bus.publish(said(`echo: ${text}`));
      return bus.finished();
    }
    const status = (state: string) => ({ state, timestamp: new Date().toISOString() });
    const update = (state: string, final: boolean) =>
      bus.publish({ kind: 'status-update', taskId, contextId, status: status(state), final });
    bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), history: [userMessage] });
    update('working', false);
    if (text.startsWith('wait')) {
      await new Promise<void>((resolve) => cancelled.set(taskId, resolve));
      update('canceled', true);
      return bus.finished();
    }
    const artifact = { artifactId: 'a', parts: [{ kind: 'text', text: `done: ${text}` }] };
    bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, lastChunk: true });
    update('completed', true);
    bus.finished();
  },
  cancelTask: async (taskId: string): Promise<void> => cancelled.get(taskId)?.(),
};

const card = {
  name: 'Old agent',
  description: 'Speaks 0.2',
  url: 'http://127.0.0.1',
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Says it again', tags: ['talk'] }],
  supportsAuthenticatedExtendedCard: false,
};
const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const server = new A2AExpressApp(handler).setupRoutes(express()).listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
const { port } = server.address();
card.url = `http://127.0.0.1:${port}/`;
process.stdout.write(`${JSON.stringify({ port })}\n\n`);
