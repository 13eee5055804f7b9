/** Changing a guardrail: other checks or actions make a new version. */
import { endpoint } from '../kernel/endpoint.ts';
import { catalogChange, guardrailAccess, reachGuardrail } from './access.ts';
import { checkContent, restoreSecrets } from './content.ts';
import { guardrailPath, guardrailUpdate, savedGuardrail } from './schema.ts';
import { currentContent, insertVersion } from './store.ts';

export const updateGuardrail = endpoint({
  method: 'PUT',
  path: '/guardrails/:guardrail',
  tag: 'Guardrails',
  summary: 'Change a guardrail; changed checks or actions become a new version, which is used at once',
  access: guardrailAccess('update'),
  audit: { resource: 'guardrail', action: 'update' },
  params: guardrailPath,
  body: guardrailUpdate,
  reply: savedGuardrail,
  async handle(call) {
    const { body, db, now, services, caller } = call;
    const row = await reachGuardrail(call, call.params.guardrail, 'update');
    const saved = await currentContent(db, services.vault, row);
    const content = {
      checks: body.checks ? restoreSecrets(body.checks, saved.checks) : saved.checks,
      actions: body.actions ?? saved.actions,
    };
    const isNew = !Bun.deepEquals(content, saved);
    const warnings = isNew ? checkContent(content, services.settings.trustedHosts) : [];
    const versionId = isNew ? Bun.randomUUIDv7() : row.version_id;
    if (isNew)
      await insertVersion(db, services.vault, now, { id: versionId, guardrailId: row.id, content, by: caller.userId });
    await db
      .updateTable('guardrails')
      .set({
        name: body.name ?? row.name,
        version_id: versionId,
        updated_by: caller.userId,
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', row.id)
      .execute();
    call.changed(catalogChange(row));
    call.note({
      resourceId: row.id,
      ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
      details: { slug: row.slug, version_id: versionId },
    });
    return { id: row.id, slug: row.slug, version_id: versionId, ...(warnings.length > 0 && { warnings }) };
  },
});
