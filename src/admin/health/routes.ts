/** Is the program up? Open to everyone, so that load balancers need no key. */
import { z } from 'zod';
import { notReady } from '../../http/errors.ts';
import { migrations } from '../../store/migrations/index.ts';
import { version } from '../../version.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';

const health = endpoint({
  method: 'GET',
  path: '/health',
  tag: 'Service',
  summary: 'Tell whether the service is up',
  access: 'open',
  reply: () => z.object({ status: z.literal('success'), message: z.string(), version: z.string() }),
  handle: async () => ({ status: 'success' as const, message: 'Server is healthy', version }),
});

const ready = endpoint({
  method: 'GET',
  path: '/ready',
  tag: 'Service',
  summary: 'Tell whether the service should be sent requests',
  description:
    'Answers 503 while the database does not answer, while it is of another release, and once the program was told to end.',
  access: 'open',
  reply: () => z.object({ status: z.literal('ready'), version: z.string() }),
  async handle({ db, services }) {
    if (services.draining) throw notReady('This node is ending; send requests to another');
    const { version: schema } = await db
      .selectFrom('schema_migrations')
      .select((eb) => eb.fn.max('version').as('version'))
      .executeTakeFirstOrThrow();
    if (schema !== migrations.length) throw notReady('The database is of another release than this program');
    return { status: 'ready' as const, version };
  },
});

export const healthResource: Resource = { name: 'health', endpoints: [health, ready] };
