/** Defaults of the organisation: the guardrails that every request passes. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { decode, encode } from '../../store/json.ts';
import type { OrganisationDefaults } from '../../store/schema.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { reference } from '../kernel/fields.ts';
import { sentFields } from '../kernel/validate.ts';
import { guardrailIds, showDefaults } from './defaults.ts';
import { organisationRow } from './record.ts';
import { defaultsRecord } from './schema.ts';
import { announceUpdate, saveOrganisation } from './update.ts';

const tag = 'Organisation settings';

const readDefaults = endpoint({
  method: 'GET',
  path: '/admin/organisation/defaults',
  tag,
  summary: 'Read the guardrails that the organisation puts on every request',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.read', level: 'organisation' },
  reply: defaultsRecord,
  async handle({ db, caller, services }) {
    const { defaults } = await organisationRow(db, caller.organisationId);
    return showDefaults(db, services.guardrails, caller.organisationId, decode(defaults));
  },
});

const references = lazy(() =>
  z
    .array(reference)
    .max(100)
    .optional()
    .describe('Ids or slugs of guardrails of the organisation itself; an empty list clears it'),
);

const updateDefaults = endpoint({
  method: 'PUT',
  path: '/admin/organisation/defaults',
  tag,
  summary: 'Set the guardrails that the organisation puts on every request',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_settings.update', level: 'organisation' },
  audit: { resource: 'organisation', action: 'update' },
  body: () => z.object({ input_guardrails: references(), output_guardrails: references() }),
  reply: defaultsRecord,
  async handle(call) {
    const { db, now, body, caller, services } = call;
    sentFields(body, ['input_guardrails', 'output_guardrails']);
    const { organisationId } = caller;
    const before = decode((await organisationRow(db, organisationId)).defaults);
    const chosen = async (field: keyof OrganisationDefaults) => {
      const sent = body[field];
      return sent ? guardrailIds(db, services.guardrails, organisationId, field, sent) : before[field];
    };
    const defaults: OrganisationDefaults = {
      input_guardrails: await chosen('input_guardrails'),
      output_guardrails: await chosen('output_guardrails'),
    };
    await saveOrganisation(db, now, organisationId, { defaults: encode(defaults) });
    announceUpdate(call, before, defaults);
    return showDefaults(db, services.guardrails, organisationId, defaults);
  },
});

export const defaultsEndpoints = [readDefaults, updateDefaults];
