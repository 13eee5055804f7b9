/** Guardrails that a config names must be there: requests would be refused. */
import { guardrailLists } from '../../catalog/config-rules.ts';
import { referenceOf } from '../../catalog/guards.ts';
import { usableGuardrail } from '../../catalog/references.ts';
import { type FieldError, invalidFields } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { Services } from '../kernel/services.ts';
import type { StoredConfig } from './body.ts';

interface Place {
  organisationId: string;
  workspaceId: string;
}

export async function requireGuardrails(db: Db, services: Services, place: Place, config: StoredConfig): Promise<void> {
  const named = new Map<string, string>();
  collect(config, 'config', named);
  const faults: FieldError[] = [];
  for (const [reference, path] of named) {
    const found = await usableGuardrail(services.guardrails, db, place.organisationId, place.workspaceId, reference);
    if (!found)
      faults.push({
        location: 'body',
        path,
        message: `${reference} is no guardrail of this workspace or of the organisation`,
      });
  }
  if (faults.length > 0) throw invalidFields(faults.slice(0, 20));
}

/** Every guardrail that is named, with the place where it is named first. */
function collect(node: Readonly<Record<string, unknown>>, path: string, named: Map<string, string>): void {
  for (const list of guardrailLists) {
    const entries: unknown = node[list];
    if (!Array.isArray(entries)) continue;
    entries.forEach((entry, index) => {
      const reference = referenceOf(entry);
      if (reference !== null && !named.has(reference)) named.set(reference, `${path}.${list}.${index}`);
    });
  }
  if (!Array.isArray(node.targets)) return;
  node.targets.forEach((target: unknown, index) => {
    if (typeof target === 'object' && target !== null) {
      collect(target as Readonly<Record<string, unknown>>, `${path}.targets.${index}`, named);
    }
  });
}
