/** Reading one log over HTTP: what it shows, and to whom. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { jsonMessage, logRecord, message } from '../../../test/log-records.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, home, type Person } from '../../../test/people.ts';
import type { LogMetrics, LogRecord } from '../../logs/record.ts';

onEachEngine('GET /logs/{id}', (start) => {
  let gateway: TestGateway;
  let place: { organisationId: string; workspaceId: string; owner: Person };
  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
  });
  afterAll(() => gateway.stop());

  /** Logs a call of our workspace, as the data plane does, and answers its id. */
  function append(metrics: Partial<LogMetrics> = {}, bodies?: LogRecord['bodies']): string {
    const { organisationId, workspaceId } = place;
    const where = { organisation_id: organisationId, workspace_id: workspaceId };
    const record = logRecord({ ...where, ...metrics }, bodies);
    gateway.app.services.logs.append(record);
    return record.metrics.id;
  }

  const read = (id: string, key?: string) => gateway.get(`/v1/logs/${id}`, key === undefined ? {} : { key });

  describe('200', () => {
    test('shows a call the moment it was logged', async () => {
      const at = Date.now() - 3_600_000;
      const id = append({ created_at: at });
      const { status, body } = await read(id);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        _id: id,
        organisation_id: place.organisationId,
        created_at: new Date(at).toISOString(),
        request: {
          url: 'https://api.openai.com/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-gw-api-key': '***1234' },
          gwHeaders: { 'x-gw-api-key': '***1234' },
          body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is the capital of France? 🇫🇷' }] },
        },
        response: {
          status: 200,
          responseTime: 812,
          lastUsedOptionJsonPath: '$.config.targets[0]',
          body: { id: 'chatcmpl-1' },
        },
        log_format: 'json',
      });
      expect(Object.keys(body.request.gwHeaders)).toEqual(['x-gw-api-key']);
      expect(body).not.toHaveProperty('transformedRequest');
    });

    test('shows the metrics under the names of the wire', async () => {
      const timings = { request_parsing: 0.25, pre_processing: 0.5, cache_processing: null, response_parsing: 1 };
      const { body } = await read(append({ timings }));
      expect(body.metrics).toMatchObject({
        request_parsing_time: 0.25,
        pre_processing_time: 0.5,
        cache_processing_time: null,
        response_parsing_time: 1,
        workspace_slug: 'default',
        is_success: true,
        ai_org: 'openai',
        req_units: 12,
        res_units: 3,
        total_units: 15,
        cost: 0.00036,
        cost_currency: 'USD',
        response_time: 812,
        upstream_response_time: 812,
        gateway_processing_time: 1,
        stream_mode: 0,
        cache_status: 'MISS',
        'metadata.key': ['_user', 'environment'],
        'metadata.value': ['anna', 'prod'],
      });
      expect(body.metrics.organisation_name).toBeString();
      expect(body.metrics).not.toHaveProperty('workspace_id');
    });

    test('shows what guardrails said, and the feedback on its trace', async () => {
      const hook = { id: 'guard-1', verdict: false, deny: true, checks: [{ id: 'default.contains', verdict: false }] };
      const id = append(
        { trace_id: 'judged', guardrails: { verdict: false, denied: true, soft_denied: false } },
        { hookResults: jsonMessage({ before_request_hooks: [hook], after_request_hooks: [] }) },
      );
      const feedback = { trace_id: 'judged', value: -3, weight: 0.5, metadata: { team: 'sec' } };
      const given = await gateway.post('/v1/feedback', feedback, { key: gateway.workspaceKey });
      const { body } = await read(id);
      expect(body).toMatchObject({
        hook_results: { before_request_hooks: [hook], after_request_hooks: [] },
        feedbacks: [{ id: given.body.feedback_ids[0], value: -3, weight: 0.5, metadata: { team: 'sec' } }],
        metrics: { guardrail_verdict: false, guardrail_denied: true, guardrail_soft_denied: false },
      });
      const plain = (await read(append({ trace_id: 'nobody-judged' }))).body;
      expect(plain).toMatchObject({ feedbacks: [], metrics: { guardrail_verdict: null, guardrail_denied: false } });
      expect(plain).not.toHaveProperty('hook_results');
    });

    test('shows streams and text as strings, unpacked, and of binary bodies the size', async () => {
      const stream = 'data: {"choices":[]}\n\ndata: [DONE]\n\n';
      const id = append(
        {},
        {
          request: message('audio/wav', Buffer.alloc(4_000)),
          transformedRequest: message('text/plain', Buffer.from('shaped')),
          response: message('text/event-stream', Buffer.from(stream)),
          originalResponse: message('application/json', gzipSync('{"packed":true}'), { 'content-encoding': 'gzip' }),
        },
      );
      const { body } = await read(id);
      expect(body.request.body).toEqual({ omitted: true, content_type: 'audio/wav', size: 4_000 });
      expect(body.transformedRequest).toMatchObject({ method: 'POST', body: 'shaped' });
      expect(body.response.body).toBe(stream);
      expect(body.originalResponse.body).toEqual({ packed: true });
      expect(body.log_format).toBe('text');
    });

    test('shows no vectors', async () => {
      const answer = { data: [{ index: 0, embedding: [0.1, 0.2] }], usage: { total_tokens: 2 } };
      const id = append({ endpoint_type: 'embed' }, { response: jsonMessage(answer) });
      expect((await read(id)).body.response.body).toEqual({ data: [{ index: 0 }], usage: { total_tokens: 2 } });
    });

    test('shows a call of which only the metrics were kept', async () => {
      const { status, body } = await read(append({}, {}));
      expect(status).toBe(200);
      expect(body.request).toEqual({ url: expect.any(String), method: 'POST', gwHeaders: {} });
      expect(body.response).not.toHaveProperty('body');
      expect(body.log_format).toBe('none');
    });

    test('is open to keys of the workspace with any of the scopes, bodies and all', async () => {
      const id = append();
      for (const scope of ['logs.view', 'completions.write', 'logs.write'] as const) {
        const key = await addKey(gateway, { ...place, type: 'workspace-service', scopes: [scope] });
        const { status, body } = await read(id, key.secret);
        expect([status, body.request?.body?.model]).toEqual([200, 'gpt-4o-mini']);
      }
      const named = await gateway.get(`/v1/logs/${id}?workspace_id=${place.workspaceId}`);
      expect(named.status).toBe(200);
    });

    test('finds a call that has left the spool for the store', async () => {
      const id = append();
      const spool = join(gateway.dataDir, 'spool');
      const waiting = () => readdirSync(spool).filter((name) => !name.startsWith('lock')).length;
      while (waiting() === 0) await Bun.sleep(5);
      while (waiting() > 0) await Bun.sleep(5);
      expect((await read(id.toUpperCase())).body).toMatchObject({ _id: id, response: { body: { id: 'chatcmpl-1' } } });
    });
  });

  describe('what a person sees', () => {
    const defaults = {
      organisationAdminsViewLogs: true,
      organisationAdminsViewLogMetadata: true,
      managersViewLogs: true,
      managersViewLogMetadata: true,
      managersViewAllData: true,
      membersViewLogs: true,
      membersViewLogMetadata: true,
      membersViewAllData: true,
    };
    const settings = async (changed: Partial<typeof defaults>) => {
      const { status } = await gateway.put('/v1/admin/organisation/settings', { security_settings: changed });
      expect(status).toBe(200);
    };
    afterEach(() => settings(defaults));

    const people = {
      admin: () => addPerson(gateway, place.organisationId, 'admin'),
      manager: () =>
        addPerson(gateway, place.organisationId, 'member', { workspaces: { [place.workspaceId]: 'manager' } }),
      member: () =>
        addPerson(gateway, place.organisationId, 'member', { workspaces: { [place.workspaceId]: 'member' } }),
    };
    const bodiesOff = { organisationAdminsViewLogs: false, managersViewLogs: false, membersViewLogs: false };
    const rowsOff = {
      organisationAdminsViewLogMetadata: false,
      managersViewLogMetadata: false,
      membersViewLogMetadata: false,
    };

    for (const [role, make] of Object.entries(people)) {
      test(`a ${role} sees bodies, then metrics alone, then nothing, as the settings say`, async () => {
        const id = append();
        const { session } = await make();
        expect((await read(id, session)).body.response.body.id).toBe('chatcmpl-1');
        await settings(bodiesOff);
        const { status, body } = await read(id, session);
        expect([status, Object.keys(body).sort()]).toEqual([200, ['_id', 'created_at', 'metrics', 'organisation_id']]);
        await settings(rowsOff);
        const refused = await read(id, session);
        expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
      });
    }

    test('owners and service keys see everything whatever the settings say', async () => {
      await settings({ ...bodiesOff, ...rowsOff, membersViewAllData: false, managersViewAllData: false });
      const id = append();
      for (const key of [place.owner.session, gateway.adminKey, gateway.workspaceKey]) {
        expect((await read(id, key)).body.response?.body?.id).toBe('chatcmpl-1');
      }
    });

    test('a user key sees what its owner sees', async () => {
      const id = append();
      const { userId } = await people.member();
      const key = await addKey(gateway, { ...place, type: 'workspace-user', userId, scopes: ['completions.write'] });
      expect((await read(id, key.secret)).body.response.body.id).toBe('chatcmpl-1');
      await settings(bodiesOff);
      expect((await read(id, key.secret)).body).not.toHaveProperty('response');
    });

    test('a member who sees only own data does not find the calls of others', async () => {
      await settings({ membersViewAllData: false });
      const { userId, session } = await people.member();
      const key = await addKey(gateway, { ...place, type: 'workspace-user', userId, scopes: ['completions.write'] });
      const own = append({ user_id: userId });
      const other = append({ user_id: place.owner.userId });
      for (const credential of [session, key.secret]) {
        expect((await read(own, credential)).status).toBe(200);
        expect((await read(other, credential)).status).toBe(404);
      }
    });
  });

  describe('refusals', () => {
    test('404 for what is no id and for an id that nothing has', async () => {
      expect((await read('no-id')).status).toBe(404);
      const { status, body } = await read(Bun.randomUUIDv7());
      expect([status, body.data.errorCode, body.data.message]).toEqual([404, 'AB08', 'No such log']);
    });

    test('401 without a credential', async () => {
      expect((await read(append(), '')).status).toBe(401);
    });

    test('403 for a key with none of the scopes', async () => {
      const key = await addKey(gateway, { ...place, type: 'workspace-service', scopes: ['configs.read'] });
      expect((await read(append(), key.secret)).status).toBe(403);
    });

    test("404 for another workspace's log, whoever does not run the organisation", async () => {
      const { organisationId, workspaceId } = place;
      const elsewhere = await addWorkspace(gateway, organisationId, 'Elsewhere');
      const id = append({ workspace_id: elsewhere.id });
      const { session } = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [workspaceId]: 'admin' },
      });
      expect((await read(id, gateway.workspaceKey)).status).toBe(404);
      expect((await read(id, session)).status).toBe(404);
      expect((await read(id)).status).toBe(200);
      expect((await gateway.get(`/v1/logs/${id}?workspace_id=${workspaceId}`)).status).toBe(404);
    });

    test("404 for another tenant's log", async () => {
      const theirs = await addOrganisation(gateway);
      expect((await read(append(), theirs.adminKey)).status).toBe(404);
      const id = append({ organisation_id: theirs.organisationId, workspace_id: theirs.workspaceId });
      expect((await read(id)).status).toBe(404);
      expect((await read(id, theirs.adminKey)).status).toBe(200);
    });
  });

  test('nothing of this was a fault of ours', () => {
    expect(gateway.faults).toEqual([]);
  });
});
