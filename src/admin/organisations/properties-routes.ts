/** Properties of the organisation: the schemas that the metadata of its keys and workspaces must fit. */
import { z } from 'zod';
import { invalid } from '../../http/errors.ts';
import { faultOfMetadataSchema } from '../../identity/metadata-schema.ts';
import { lazy } from '../../lazy.ts';
import { decode, encode } from '../../store/json.ts';
import type { OrganisationProperties } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { sentFields } from '../kernel/validate.ts';
import { organisationRow } from './record.ts';
import { propertiesRecord } from './schema.ts';
import { announceUpdate, saveOrganisation } from './update.ts';

const tag = 'Organisation settings';

const readProperties = endpoint({
  method: 'GET',
  path: '/admin/organisation/properties',
  tag,
  summary: 'Read the metadata schemas of the organisation',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.read', level: 'organisation' },
  reply: propertiesRecord,
  handle: async ({ db, caller }) => decode((await organisationRow(db, caller.organisationId)).properties),
});

const metadataSchema = lazy(() =>
  z
    .record(z.string().max(100), z.unknown())
    .nullable()
    .exactOptional()
    .describe(
      'JSON Schema draft-07 with `type: object`, `additionalProperties: true` and properties of `type: string`; `required`, `enum` and `default` may be used; null removes it',
    ),
);

const updateProperties = endpoint({
  method: 'PUT',
  path: '/admin/organisation/properties',
  tag,
  summary: 'Set or remove the metadata schemas of the organisation',
  description: 'Keys and workspaces that exist keep their metadata until it is next updated.',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: () => z.object({ api_key_metadata_schema: metadataSchema(), workspace_metadata_schema: metadataSchema() }),
  reply: propertiesRecord,
  async handle(call) {
    const { db, now, body, caller } = call;
    sentFields(body, ['api_key_metadata_schema', 'workspace_metadata_schema']);
    for (const [field, schema] of Object.entries(body)) {
      const fault = schema === null ? null : faultOfMetadataSchema(schema);
      if (fault) throw invalid(field, fault);
    }
    const before = decode((await organisationRow(db, caller.organisationId)).properties);
    const properties: OrganisationProperties = { ...before, ...body };
    await saveOrganisation(db, now, caller.organisationId, { properties: encode(properties) });
    announceUpdate(call, before, properties);
    return properties;
  },
});

export const propertiesEndpoints = [readProperties, updateProperties];
