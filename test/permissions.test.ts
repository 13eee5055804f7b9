/** Every endpoint, called by every kind of caller, answers what its declaration says. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Endpoint } from '../src/admin/kernel/endpoint.ts';
import { resources } from '../src/admin/resources.ts';
import type { Scope } from '../src/identity/scopes.ts';
import { type Actor, type Cast, makeCast } from './actors.ts';
import { onEachEngine, type TestGateway } from './harness.ts';

type Verdict = 'let in' | 401 | 403 | 404;

const endpoints = resources.flatMap((resource) => resource.endpoints);
const named = (endpoint: Endpoint): string => `${endpoint.method} ${endpoint.path}`;

/** Where an endpoint has a rule of its own behind its declaration: what these callers get instead. */
const deeperRules: Readonly<Record<string, Readonly<Record<string, Verdict>>>> = {
  // Members hold workspaces.read, yet settings are shown only to those who manage the workspace.
  'GET /admin/workspaces/:workspaceId/settings': { 'a workspace member': 403 },
  // Leaving needs no scope, removing someone else does; the person named here is someone else.
  'DELETE /admin/workspaces/:workspaceId/users/:userId': {
    'a workspace member': 403,
    'a member of no workspace': 403,
  },
  // Everyone may ask about themselves, but in a workspace only those who belong to it.
  'GET /auth/self': { 'a member of no workspace': 403 },
};

onEachEngine('permissions', (start) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway.stop());

  /** By their scopes: a call that changes nothing leaves its callers to the next endpoint. */
  const casts = new Map<string, Promise<Cast>>();
  const castFor = (endpoint: Endpoint): Promise<Cast> => {
    const scopes = scopesOf(endpoint);
    const known = casts.get(scopes.join()) ?? makeCast(gateway, scopes);
    casts.set(scopes.join(), known);
    return known;
  };

  describe('who may call', () => {
    for (const endpoint of endpoints) {
      test(named(endpoint), async () => {
        const wrong: string[] = [];
        let cast = await castFor(endpoint);
        for (const at of cast.actors.keys()) {
          if (mayGoThrough(endpoint)) cast = await makeCast(gateway, scopesOf(endpoint));
          const actor = cast.actors[at];
          if (!actor) continue;
          const expected = deeperRules[named(endpoint)]?.[actor.name] ?? verdict(endpoint, actor);
          const { status, body } = await call(gateway, endpoint, cast, actor);
          const found =
            status === 401 || status === 403 || status >= 500 ? status : expected === 404 ? status : 'let in';
          if (found !== expected) wrong.push(`${actor.name}: ${status} ${body.data?.message}, not ${expected}`);
        }
        expect(wrong).toEqual([]);
      });
    }
  });

  test('every other spelling of a path is guarded alike', async () => {
    const unguarded: string[] = [];
    for (const endpoint of endpoints.filter((candidate) => candidate.access !== 'open')) {
      for (const version of ['/v1', '/v2']) {
        for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
          const address = version + path.replaceAll(/:\w+/g, () => Bun.randomUUIDv7());
          const { status, body } = await gateway.ask(endpoint.method, address, { key: '' });
          if (status !== 401 || body.data.errorCode !== 'AB05')
            unguarded.push(`${endpoint.method} ${version}${path}: ${status}`);
        }
      }
    }
    expect(unguarded).toEqual([]);
  });

  test('every exception names an endpoint and a caller that exist', async () => {
    const { actors } = await makeCast(gateway, []);
    const callers = actors.map((actor) => actor.name);
    for (const [endpoint, exceptions] of Object.entries(deeperRules)) {
      expect(endpoints.map(named)).toContain(endpoint);
      for (const caller of Object.keys(exceptions)) expect(callers).toContain(caller);
    }
  });

  test('nothing of this was a fault of ours', () => {
    expect(gateway.faults).toEqual([]);
  });
});

function scopesOf({ access }: Endpoint): readonly Scope[] {
  if (access === 'open' || access.scope === null) return [];
  return typeof access.scope === 'string' ? [access.scope] : access.scope.anyOf;
}

/** A write that needs neither a body nor the id of anything may change what the next caller needs. */
const mayGoThrough = ({ method, body, path }: Endpoint): boolean =>
  method !== 'GET' && !body && !/:(?!workspaceId\b)/.test(path);

/** What the declaration, the scope table and the roles say, told apart from how the kernel finds it out. */
function verdict(endpoint: Endpoint, actor: Actor): Verdict {
  const { access } = endpoint;
  if (access === 'open') return 'let in';
  if (actor.kind === null) return 401;
  if (!access.callers.includes(actor.kind)) return access.others === 'unauthenticated' ? 401 : 403;
  const held = access.level === 'organisation' ? actor.organisationScopes : actor.workspaceScopes;
  const scopes = scopesOf(endpoint);
  if (scopes.length > 0 && !scopes.some((scope) => held.has(scope))) return 403;
  // Every call that is about a workspace names ours, which does not exist for another tenant.
  return access.level === 'workspace' && actor.tenant === 'another' ? 404 : 'let in';
}

/** Calls with a body that no schema takes, so that whoever is let in changes nothing. */
async function call(gateway: TestGateway, endpoint: Endpoint, cast: Cast, actor: Actor) {
  const path = endpoint.path.replaceAll(/[:*](\w+)/g, (_, name) =>
    name === 'workspaceId' ? cast.workspaceId : Bun.randomUUIDv7(),
  );
  const ofWorkspace = endpoint.access !== 'open' && endpoint.access.level === 'workspace';
  const query = ofWorkspace && !path.includes(cast.workspaceId) ? `?workspace_id=${cast.workspaceId}` : '';
  return gateway.ask(endpoint.method, `/v1${path}${query}`, {
    key: '',
    headers: actor.headers,
    ...(endpoint.body && { body: [] }),
  });
}
