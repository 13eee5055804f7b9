/** Purging cached answers: of a workspace, of one of its namespaces, or a single one. */
import { z } from 'zod';
import { purgeChange } from '../../cache/purge.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty, reference } from '../kernel/fields.ts';
import { requireDestination } from '../prompts/access.ts';

const purgeQuery = () =>
  z.object({
    workspace_id: reference.optional().describe('Required of admin keys and sessions'),
    namespace: z.string().min(1).max(255).optional().describe('Only what was kept under this x-gw-cache-namespace'),
    key: z
      .string()
      .max(64)
      .regex(/^[0-9a-f]{64}$/, 'must be a key as x-gw-cache-key tells it')
      .optional()
      .describe('Only the answer of this key, as x-gw-cache-key told it'),
  });

const purgeCache = endpoint({
  method: 'DELETE',
  path: '/cache',
  tag: 'Cache',
  summary: 'Forget the cached answers of a workspace, of a namespace or of a key, on every node',
  access: {
    callers: ['admin-key', 'workspace-key', 'session'],
    scope: 'configs.update',
    level: 'workspace',
  },
  audit: { resource: 'workspace', action: 'update' },
  query: purgeQuery,
  reply: empty,
  async handle({ workspace, query, changed, note }) {
    const workspaceId = requireDestination(workspace);
    const { namespace = null, key = null } = query;
    changed(purgeChange({ workspaceId, namespace, key }));
    note({ workspaceId, details: { purged: 'cache', namespace, key } });
    return {};
  },
});

export const cacheResource: Resource = { name: 'cache', endpoints: [purgeCache] };
