/** What the compiler refuses in a declaration; `tsc` reads this file, nothing runs it. */
import { z } from 'zod';
import { endpoint } from '../src/admin/kernel/endpoint.ts';

const common = { path: '/things', tag: 'Things', summary: 'Do a thing', reply: () => z.object({}) } as const;
const access = { callers: ['admin-key'], scope: null, level: 'organisation' } as const;
const handle = async () => ({});

// @ts-expect-error an endpoint without an access rule
endpoint({ ...common, method: 'GET', handle });

// @ts-expect-error an access rule that lets nobody in
endpoint({ ...common, method: 'GET', access: { ...access, callers: [] }, handle });

// @ts-expect-error an access rule that does not mention a scope
endpoint({ ...common, method: 'GET', access: { callers: ['admin-key'], level: 'organisation' }, handle });

// @ts-expect-error a scope that the table does not have
endpoint({ ...common, method: 'GET', access: { ...access, scope: 'things.make' }, handle });

// @ts-expect-error an endpoint that writes without an audit declaration
endpoint({ ...common, method: 'POST', access, handle });

// @ts-expect-error a reply that breaks its schema
endpoint({ ...common, method: 'GET', access, reply: () => z.object({ id: z.string() }), handle });

export const allowed = endpoint({
  ...common,
  method: 'POST',
  access,
  audit: { resource: 'workspace', action: 'create' },
  handle,
});
