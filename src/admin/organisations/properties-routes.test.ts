/** Metadata schemas and default guardrails of an organisation, as the answers of their routes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation } from '../../../test/people.ts';

const propertiesPath = '/v1/admin/organisation/properties';
const defaultsPath = '/v1/admin/organisation/defaults';
const schema = { type: 'object', additionalProperties: true, properties: { team: { type: 'string' } } };

onEachEngine('organisation properties and defaults', (start) => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await start();
  });

  afterAll(() => gateway.stopWithoutFaults());

  describe('properties', () => {
    test('a schema that is sent is kept, the other stays, null removes it', async () => {
      const none = { api_key_metadata_schema: null, workspace_metadata_schema: null };
      expect((await gateway.get(propertiesPath)).body).toEqual(none);
      const set = await gateway.put(propertiesPath, { api_key_metadata_schema: schema });
      expect([set.status, set.body]).toEqual([200, { ...none, api_key_metadata_schema: schema }]);
      const both = await gateway.put(propertiesPath, { workspace_metadata_schema: schema });
      expect(both.body).toEqual({ api_key_metadata_schema: schema, workspace_metadata_schema: schema });
      expect((await gateway.get(propertiesPath)).body).toEqual(both.body);
      const elsewhere = await addOrganisation(gateway);
      expect((await gateway.get(propertiesPath, { key: elsewhere.adminKey })).body).toEqual(none);
      const cleared = await gateway.put(propertiesPath, { ...none });
      expect(cleared.body).toEqual(none);
    });

    test.each([
      ['a schema that closes its properties', { ...schema, additionalProperties: false }],
      ['a schema of a number', { ...schema, properties: { age: { type: 'number' } } }],
      ['a schema with other keywords', { ...schema, oneOf: [] }],
      ['a schema that is no object', 'string'],
    ])('%s is refused with 400 and named', async (_case, workspace_metadata_schema) => {
      const reply = await gateway.put(propertiesPath, { workspace_metadata_schema });
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(reply.body.data.errors[0].path).toBe('workspace_metadata_schema');
    });
  });

  describe('defaults', () => {
    test('guardrails are named by id or slug, kept once, and shown with both', async () => {
      const { guardrails } = gateway.app.services;
      const pii = { id: Bun.randomUUIDv7(), slug: 'pg-pii' };
      gateway.app.services.guardrails = {
        find: async (_db, _organisationId, workspaceId, ref) =>
          workspaceId === null && (ref === pii.id || ref === pii.slug) ? pii : null,
      };
      const set = await gateway.put(defaultsPath, { input_guardrails: ['pg-pii', pii.id] });
      expect([set.status, set.body]).toEqual([200, { input_guardrails: [pii], output_guardrails: [] }]);
      const other = await gateway.put(defaultsPath, { output_guardrails: [pii.id] });
      expect(other.body).toEqual({ input_guardrails: [pii], output_guardrails: [pii] });
      const cleared = await gateway.put(defaultsPath, { output_guardrails: [] });
      expect(cleared.body).toEqual({ input_guardrails: [pii], output_guardrails: [] });
      expect((await gateway.get('/v1/admin/organisation')).body.defaults).toEqual(cleared.body);
      // Gone with the guardrail itself.
      gateway.app.services.guardrails = guardrails;
      expect((await gateway.get(defaultsPath)).body).toEqual({ input_guardrails: [], output_guardrails: [] });
    });

    test('a guardrail that the organisation does not have is refused with 400 and named', async () => {
      const reply = await gateway.put(defaultsPath, { output_guardrails: ['pg-unknown'] });
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(reply.body.data.errors[0].path).toBe('output_guardrails.0');
    });

    test('a list that is none is refused with 400', async () => {
      expect((await gateway.put(defaultsPath, { input_guardrails: 'pg-pii' })).status).toBe(400);
      expect((await gateway.put(defaultsPath, { input_guardrails: null })).status).toBe(400);
    });
  });
});
