/** The defaults that a workspace gives its requests and user keys: references are looked up, metadata is held to the organisation's schema. */

import { usableGuardrail } from '../../catalog/references.ts';
import { type FieldError, invalidFields } from '../../http/errors.ts';
import { applyMetadataSchema } from '../../identity/metadata-schema.ts';
import type { Db } from '../../store/database.ts';
import type { OrganisationProperties, WorkspaceDefaults } from '../../store/schema.ts';
import type { Services } from '../kernel/services.ts';
import type { SentDefaults } from './schema.ts';

interface Place {
  organisationId: string;
  workspaceId: string;
  properties: OrganisationProperties;
}

/** The sent defaults as they are stored: configs and guardrails by slug, each once. */
export async function resolveDefaults(
  db: Db,
  services: Services,
  place: Place,
  sent: SentDefaults,
): Promise<Partial<WorkspaceDefaults>> {
  const faults: FieldError[] = [];
  const fault = (path: string, message: string) =>
    void faults.push({ location: 'body', path: `defaults.${path}`, message });
  const resolved: Partial<WorkspaceDefaults> = {};

  if (sent.metadata) {
    const checked = applyMetadataSchema(place.properties.workspace_metadata_schema, sent.metadata);
    for (const { path, message } of checked.faults) fault(path ? `metadata.${path}` : 'metadata', message);
    resolved.metadata = checked.metadata;
  }
  for (const list of ['input_guardrails', 'output_guardrails'] as const) {
    const references = sent[list];
    if (!references) continue;
    const slugs = new Set<string>();
    for (const [index, ref] of references.entries()) {
      const found = await usableGuardrail(services.guardrails, db, place.organisationId, place.workspaceId, ref);
      if (found) slugs.add(found.slug);
      else fault(`${list}.${index}`, 'is no guardrail of this workspace or of the organisation');
    }
    resolved[list] = [...slugs];
  }
  if (sent.user_api_key_config === null) resolved.user_api_key_config = null;
  else if (sent.user_api_key_config !== undefined) {
    const found = await services.configs.find(db, place.workspaceId, sent.user_api_key_config);
    if (found) resolved.user_api_key_config = found.slug;
    else fault('user_api_key_config', 'is no config of this workspace');
  }

  if (faults.length > 0) throw invalidFields(faults);
  return resolved;
}
