/** Is the program up? Open to everyone, so that load balancers need no key. */
import { z } from 'zod';
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

export const healthResource: Resource = { name: 'health', endpoints: [health] };
