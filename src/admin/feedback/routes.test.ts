import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../../test/harness.ts';
import { logRecord } from '../../../test/log-records.ts';
import { addKey, addOrganisation, addWorkspace, home } from '../../../test/people.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
});
afterAll(() => gateway.stopWithoutFaults());

/** Logs a call of our workspace, as the data plane does. */
function called(traceId: string): void {
  const where = { organisation_id: place.organisationId, workspace_id: place.workspaceId };
  gateway.app.services.logs.append(logRecord({ ...where, trace_id: traceId }));
}

const give = (body: unknown, key = gateway.workspaceKey) => gateway.post('/v1/feedback', body, { key });

describe('feedback', () => {
  test('is taken one by one and in lists, and answered in their order', async () => {
    called('t-1');
    called('t-2');
    const one = await give({ trace_id: 't-1', value: 5 });
    expect([one.status, one.body.status, one.body.feedback_ids.length]).toEqual([200, 'success', 1]);
    const { body } = await give([
      { traceID: 't-1', value: -10, weight: 0.5, metadata: '{"_user":"anna"}' },
      { trace_id: 't-2', value: 10, metadata: { _environment: 'prod', n: 1 } },
    ]);
    const [first, second] = await Promise.all(
      body.feedback_ids.map((id: string) => gateway.app.services.logs.findFeedback(id)),
    );
    expect(first).toMatchObject({ trace_id: 't-1', value: -10, weight: 0.5, metadata: { _user: 'anna' } });
    expect(second).toMatchObject({ trace_id: 't-2', value: 10, weight: 1, metadata: { _environment: 'prod', n: '1' } });
  });

  test('can be changed by its workspace alone', async () => {
    called('t-3');
    const { body } = await give({ trace_id: 't-3', value: 1, weight: 0.5 });
    const [id] = body.feedback_ids;
    const changed = await gateway.put(`/v1/feedback/${id}`, { value: -2 }, { key: gateway.workspaceKey });
    expect([changed.status, changed.body.feedback_ids]).toEqual([200, [id]]);
    expect(await gateway.app.services.logs.findFeedback(id)).toMatchObject({ value: -2, weight: 0.5 });
    const elsewhere = await addWorkspace(gateway, place.organisationId, 'Elsewhere');
    const key = await addKey(gateway, {
      ...place,
      workspaceId: elsewhere.id,
      type: 'workspace-service',
      scopes: ['logs.write'],
    });
    expect((await gateway.put(`/v1/feedback/${id}`, { value: 3 }, { key: key.secret })).status).toBe(404);
    expect(
      (await gateway.put(`/v1/feedback/${Bun.randomUUIDv7()}`, { value: 3 }, { key: gateway.workspaceKey })).status,
    ).toBe(404);
  });

  test('on a trace that is not there is refused with 404 that names the field, and nothing of a list is kept', async () => {
    called('here');
    const one = await give({ trace_id: 'nowhere', value: 1 });
    expect(one).toMatchObject({
      status: 404,
      body: { data: { errorCode: 'AB08', errors: [{ path: 'trace_id', message: 'No such trace in this workspace' }] } },
    });
    const alias = await give({ traceID: 'nowhere', value: 1 });
    expect([alias.status, alias.body.data.errors[0].path]).toEqual([404, 'traceID']);
    const list = await give([
      { trace_id: 'here', value: 1 },
      { trace_id: 'nowhere', value: 1 },
      { trace_id: 'here', value: 2 },
      { traceID: 'nor-here', value: 1 },
    ]);
    expect([list.status, list.body.data.errors.map(({ path }: { path: string }) => path)]).toEqual([
      404,
      ['1.trace_id', '3.traceID'],
    ]);
    expect(await gateway.app.services.logs.feedbackOnTrace(place.workspaceId, 'here')).toEqual([]);
  });

  test('on a trace of another workspace is refused', async () => {
    called('ours');
    const elsewhere = await addWorkspace(gateway, place.organisationId, 'Other');
    const where = { ...place, workspaceId: elsewhere.id };
    const key = await addKey(gateway, { ...where, type: 'workspace-service', scopes: ['logs.write'] });
    expect((await give({ trace_id: 'ours', value: 1 }, key.secret)).status).toBe(404);
    expect((await give({ trace_id: 'ours', value: 1 })).status).toBe(200);
  });

  test('is taken on a log of another client and on a span of OpenTelemetry at once', async () => {
    const key = (
      await addKey(gateway, { ...place, type: 'workspace-service', scopes: ['logs.write', 'completions.write'] })
    ).secret;
    const log = { request: { url: 'https://x.test', body: {} }, response: { body: {} }, metadata: { traceId: 'own' } };
    expect((await gateway.post('/v1/logs', log, { key })).status).toBe(200);
    expect((await give({ trace_id: 'own', value: 1 })).status).toBe(200);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const time = String(BigInt(Date.now()) * 1_000_000n);
    const span = {
      traceId,
      spanId: 'b7ad6b7169203331',
      name: 'chat',
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      attributes: [{ key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o' } }],
    };
    const sent = await gateway.post(
      '/v1/otel/v1/traces',
      { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
      { key },
    );
    expect(sent.status).toBe(200);
    expect((await give({ trace_id: traceId, value: 1 })).status).toBe(200);
  });

  test('cannot be changed once its trace is gone', async () => {
    const row = {
      id: Bun.randomUUIDv7(),
      organisation_id: place.organisationId,
      workspace_id: place.workspaceId,
      trace_id: 'purged',
      value: 1,
      weight: 1,
      metadata: {},
      created_at: Date.now(),
    };
    await gateway.app.services.logs.saveFeedback([row]);
    const changed = await gateway.put(`/v1/feedback/${row.id}`, { value: 2 }, { key: gateway.workspaceKey });
    expect([changed.status, changed.body.data.errors[0].path]).toEqual([404, 'trace_id']);
  });

  test('is refused to admin keys, to keys without the scope, and where a figure is out of bounds', async () => {
    expect((await give({ trace_id: 't', value: 1 }, gateway.adminKey)).status).toBe(403);
    const theirs = await addOrganisation(gateway);
    expect((await give({ trace_id: 't', value: 1 }, theirs.adminKey)).status).toBe(403);
    const key = await addKey(gateway, { ...place, type: 'workspace-service', scopes: ['logs.list'] });
    expect((await give({ trace_id: 't', value: 1 }, key.secret)).status).toBe(403);
    for (const wrong of [
      { trace_id: 't', value: 11 },
      { trace_id: 't', value: 1.5 },
      { value: 1 },
      { trace_id: 't', value: 1, weight: 2 },
      { trace_id: 't', value: 1, metadata: '{' },
      [],
    ]) {
      expect((await give(wrong)).status).toBe(400);
    }
  });
});
