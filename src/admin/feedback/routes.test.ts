import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addWorkspace, home } from '../../../test/people.ts';

let gateway: TestGateway;
let place: Awaited<ReturnType<typeof home>>;
beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
});
afterAll(() => gateway.stopWithoutFaults());

const give = (body: unknown, key = gateway.workspaceKey) => gateway.post('/v1/feedback', body, { key });

describe('feedback', () => {
  test('is taken one by one and in lists, and answered in their order', async () => {
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
