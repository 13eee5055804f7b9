/** The guardrails that an organisation puts on every request, kept by id and shown as they are called now. */
import type { GuardrailIndex, Reference } from '../../catalog/references.ts';
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { OrganisationDefaults } from '../../store/schema.ts';

/** The ids of the guardrails that `references` name, each once; refuses what is no guardrail of the organisation itself. */
export async function guardrailIds(
  db: Db,
  guardrails: GuardrailIndex,
  organisationId: string,
  field: keyof OrganisationDefaults,
  references: readonly string[],
): Promise<string[]> {
  const ids = new Set<string>();
  for (const [index, reference] of references.entries()) {
    const found = await guardrails.find(db, organisationId, null, reference);
    if (!found) throw invalid(`${field}.${index}`, `${reference} is no guardrail of the organisation`);
    ids.add(found.id);
  }
  return [...ids];
}

/** A guardrail that was deleted since is left out. */
export async function showDefaults(
  db: Db,
  guardrails: GuardrailIndex,
  organisationId: string,
  defaults: OrganisationDefaults,
): Promise<Record<keyof OrganisationDefaults, Reference[]>> {
  const show = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => guardrails.find(db, organisationId, null, id)));
    return found.filter((guardrail) => guardrail !== null);
  };
  return {
    input_guardrails: await show(defaults.input_guardrails),
    output_guardrails: await show(defaults.output_guardrails),
  };
}
