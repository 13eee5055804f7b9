/** API keys of all three types. */
import { type Dependant, endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { byIdAccess, reachKey } from './access.ts';
import { createEndpoints } from './create.ts';
import { listKeys } from './list.ts';
import { liveKeys } from './live.ts';
import { archiveKeys } from './mint.ts';
import { keyRecordOf } from './record.ts';
import { rotationEndpoints } from './rotation-routes.ts';
import { keyPath, keyRecord } from './schema.ts';
import { updateKey } from './update.ts';

const readKey = endpoint({
  method: 'GET',
  path: '/api-keys/:apiKeyId',
  aliases: ['/api_keys/:apiKeyId'],
  tag: 'API keys',
  summary: 'Read a key; its secret is masked',
  access: byIdAccess('read'),
  params: keyPath,
  reply: keyRecord,
  async handle(call) {
    const key = await reachKey(call.db, call.caller, call.params.apiKeyId, 'read');
    await call.services.limits.flush();
    return keyRecordOf(call, key.id);
  },
});

const deleteKey = endpoint({
  method: 'DELETE',
  path: '/api-keys/:apiKeyId',
  aliases: ['/api_keys/:apiKeyId'],
  tag: 'API keys',
  summary: 'Delete a key; all its secrets stop to count at once',
  access: byIdAccess('delete'),
  params: keyPath,
  reply: empty,
  audit: { resource: 'api_key', action: 'delete' },
  async handle({ caller, params, db, now, changed, note }) {
    const key = await reachKey(db, caller, params.apiKeyId, 'delete');
    changed(...(await archiveKeys(db, now, { keyId: key.id })));
    note({
      ...(key.workspace_id !== null && { workspaceId: key.workspace_id }),
      details: { type: key.type, name: key.name },
    });
    return {};
  },
});

const keysOfWorkspace: Dependant = {
  kind: 'API keys',
  count: (db, workspaceId) => countOf(liveKeys(db).where('workspace_id', '=', workspaceId)),
  remove: (db, workspaceId, now) => archiveKeys(db, now, { workspaceId }),
};

export const apiKeysResource: Resource = {
  name: 'api-keys',
  endpoints: [...createEndpoints, listKeys, readKey, updateKey, deleteKey, ...rotationEndpoints],
  dependants: [keysOfWorkspace],
};
