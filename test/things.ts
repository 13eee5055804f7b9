/** A resource so small that only the kernel can be at fault, and a kernel of its own to serve it. */
import { z } from 'zod';
import { type AuditTrail, createAuditTrail } from '../src/admin/kernel/audit/audit.ts';
import { endpoint, type Resource } from '../src/admin/kernel/endpoint.ts';
import { createKernel } from '../src/admin/kernel/kernel.ts';
import type { Settings } from '../src/environment.ts';
import { conflict } from '../src/http/errors.ts';
import { type Listener, listen } from '../src/http/server.ts';
import { onWeb } from '../src/http/web.ts';
import { createAuthenticator } from '../src/identity/authenticate.ts';
import { createKeyring } from '../src/identity/keyring.ts';
import type { Json, TestGateway } from './harness.ts';

const tag = 'Test';
const everyone = ['admin-key', 'workspace-key', 'user-key', 'session'] as const;
const anything = () => z.record(z.string(), z.unknown());
const organisationLevel = {
  callers: ['admin-key', 'session'],
  scope: 'organisation_settings.update',
  level: 'organisation',
} as const;
const workspaceLevel = { callers: everyone, scope: 'configs.read', level: 'workspace' } as const;
const audit = { resource: 'workspace', action: 'create' } as const;

const things: Resource = {
  name: 'things',
  endpoints: [
    endpoint({
      method: 'GET',
      path: '/things',
      aliases: ['/admin/things'],
      tag,
      summary: 'Page',
      access: { ...organisationLevel, scope: 'organisation_settings.read' },
      paging: { size: 10, max: 20 },
      reply: anything,
      handle: async ({ page }) => ({ ...page }),
    }),
    endpoint({
      method: 'GET',
      path: '/counted-things',
      tag,
      summary: 'Page of none',
      access: { ...organisationLevel, scope: 'organisation_settings.read' },
      paging: { size: 10, max: 20, allowZero: true },
      reply: anything,
      handle: async ({ page }) => ({ ...page }),
    }),
    endpoint({
      method: 'POST',
      path: '/things',
      tag,
      summary: 'Keep a thing',
      access: organisationLevel,
      audit,
      body: () => z.object({ name: z.string().min(1).max(20), ending: z.enum(['refuse', 'fail', 'spoil']).optional() }),
      reply: anything,
      async handle({ body, db, changed, note, header, caller }) {
        await db.insertInto('leases').values({ name: body.name, holder: 'test', expires_at: '' }).execute();
        changed({ topic: 'organisation', id: caller.organisationId });
        note({ resourceId: body.name, details: { colour: 'red' } });
        header('x-thing', body.name);
        if (body.ending === 'refuse') throw conflict('The thing is taken');
        if (body.ending === 'fail') throw new Error('canary of the inside');
        // A number that JSON cannot hold: the audit row cannot be written.
        if (body.ending === 'spoil') note({ details: { count: 1n } });
        return { name: body.name };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/things/:thingId',
      tag,
      summary: 'Take a thing away',
      access: organisationLevel,
      audit: { ...audit, action: 'delete' },
      params: () => z.object({ thingId: z.uuid() }),
      body: () => z.object({ force: z.boolean().optional() }),
      bodyRequired: false,
      reply: anything,
      handle: async ({ params, body }) => ({ ...params, ...body }),
    }),
    endpoint({
      method: 'GET',
      path: '/shelf',
      tag,
      summary: 'Which workspace',
      access: workspaceLevel,
      query: () => z.object({ workspace_id: z.string().optional() }),
      reply: anything,
      handle: async ({ workspace, query }) => ({ id: workspace?.id ?? null, asked: query.workspace_id ?? null }),
    }),
    endpoint({
      method: 'POST',
      path: '/shelf',
      tag,
      summary: 'Write to a workspace',
      access: { ...workspaceLevel, scope: 'configs.create' },
      audit,
      body: () => z.object({ title: z.string() }),
      reply: anything,
      handle: async ({ workspace }) => ({ id: workspace?.id ?? null }),
    }),
    endpoint({
      method: 'GET',
      path: '/shelf/:workspaceId/book',
      tag,
      summary: 'Which workspace, by the path',
      access: workspaceLevel,
      params: () => z.object({ workspaceId: z.string() }),
      reply: anything,
      handle: async ({ workspace }) => ({ id: workspace?.id ?? null }),
    }),
    endpoint({
      method: 'GET',
      path: '/fault',
      tag,
      summary: 'Fail',
      access: 'open',
      reply: anything,
      handle: async () => {
        throw new Error('canary of the inside');
      },
    }),
    endpoint({
      method: 'GET',
      path: '/promise',
      tag,
      summary: 'Break a promise, or say too much',
      access: 'open',
      query: () => z.object({ break: z.string().optional() }),
      reply: () => z.object({ count: z.number() }),
      handle: async ({ query }) => Object.assign({ extra: 'seen' }, { count: query.break ? Number.NaN : 1 }),
    }),
    endpoint({
      method: 'POST',
      path: '/guess',
      tag,
      summary: 'Guess',
      access: 'open',
      throttle: 'sensitive',
      audit,
      reply: anything,
      handle: async ({ exchange }) => ({ ip: exchange.clientIp, origin: exchange.origin }),
    }),
  ],
};

interface ThingAsk {
  /** The admin key unless another credential is given; empty asks without any. */
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  at?: Listener;
}

/** The kernel with `things` behind it, on the store, clock and keys of a running gateway. */
export class ThingService {
  readonly gateway: TestGateway;
  readonly trail: AuditTrail;
  readonly listener: Listener;
  readonly faults: { fault: unknown; requestId: string }[] = [];
  /** Ids that change notices named. */
  readonly announced: string[] = [];

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
    this.trail = createAuditTrail(gateway.app.services.store.db, () => undefined);
    this.listener = this.serve();
    gateway.app.services.feed.subscribe((changes) => {
      if (changes !== 'all') this.announced.push(...changes.map((change) => change.id));
    });
  }

  /** Another listener, under other settings. */
  serve(settings: Partial<Settings> = {}): Listener {
    const services = { ...this.gateway.app.services, settings: { ...this.gateway.app.services.settings, ...settings } };
    const { store, feed, clock } = services;
    const kernel = createKernel({
      resources: [things],
      services,
      authenticator: createAuthenticator(store.db, createKeyring(store.db, feed, clock), clock),
      trail: this.trail,
      onFault: (fault, requestId) => void this.faults.push({ fault, requestId }),
      checkReplies: true,
    });
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    return listen(
      { host: '127.0.0.1', port: 0 },
      { handlers: [onWeb(kernel.handle)], idle: async () => undefined, log: quiet },
    );
  }

  async ask(method: string, path: string, { key, body, headers, at = this.listener }: ThingAsk = {}) {
    const credential = key ?? this.gateway.adminKey;
    const response = await fetch(at.url + path, {
      method,
      headers: {
        ...(credential !== '' && { 'x-gw-api-key': credential }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const reply: Json = await response.json();
    return { status: response.status, code: reply.data?.errorCode, body: reply, headers: response.headers };
  }

  /** Status and error code in one: `403 AB03`, `200 ok`. */
  async outcome(method: string, path: string, ask?: ThingAsk): Promise<string> {
    const { status, code } = await this.ask(method, path, ask);
    return `${status} ${code ?? 'ok'}`;
  }

  async kept(name: string): Promise<boolean> {
    const { db } = this.gateway.app.services.store;
    return (await db.selectFrom('leases').select('name').where('name', '=', name).execute()).length === 1;
  }

  async auditRows(requestId: string) {
    await this.trail.flush();
    const { db } = this.gateway.app.services.store;
    return db.selectFrom('audit_logs').selectAll().where('request_id', '=', requestId).execute();
  }

  async stop(): Promise<void> {
    await this.listener.stop(0);
    await this.trail.flush();
    await this.gateway.stop();
  }
}
