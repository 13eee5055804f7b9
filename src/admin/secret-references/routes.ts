/** Secret references: pointers to secrets that an external manager keeps, with what it takes to get in. */
import { invalid } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import { openAuthConfig, sealAuthConfig, sourceOf } from '../../secrets/source.ts';
import { encode } from '../../store/json.ts';
import type { SecretReferenceTable } from '../../store/tables/secrets.ts';
import { carries, readTagsQuery } from '../integrations/tags.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { checkedAuthConfig, requireFittingPath } from './auth-config.ts';
import {
  changeableFields,
  createdReference,
  listedReference,
  newReference,
  referenceFilters,
  referencePath,
  referenceRecord,
  referenceUpdate,
  testRequest,
  testResult,
} from './schema.ts';
import { asListed, asRecord, freeSlug, reachReference, replaceWorkspaces, workspacesNamed } from './store.ts';
import { usersOf } from './used.ts';

const tag = 'Secret references';
const path = '/secret-references/:secretReference';
const access = <A extends 'create' | 'read' | 'update' | 'delete' | 'list'>(action: A) => ({
  callers: ['admin-key', 'session'] as const,
  scope: `secret_references.${action}` as const,
  level: 'organisation' as const,
});

const createReference = endpoint({
  method: 'POST',
  path: '/secret-references',
  tag,
  summary: 'Make a reference to a secret in an external manager',
  description:
    'The value itself is never stored: the gateway fetches it when a mapped object is used, and keeps it in memory for a bounded time.',
  access: access('create'),
  audit: { resource: 'secret_reference', action: 'create' },
  body: newReference,
  reply: createdReference,
  async handle({ caller, body, db, now, services, note }) {
    const { organisationId } = caller;
    const { vault, settings } = services;
    if (body.allow_all_workspaces && body.allowed_workspaces) throw bothWays();
    const auth = checkedAuthConfig(body.manager_type, body.auth_config, {}, settings.trustedHosts);
    requireFittingPath(body.manager_type, body.secret_path);
    const allowed = await workspacesNamed(db, organisationId, body.allowed_workspaces ?? []);
    if (body.allow_all_workspaces === false && allowed.length === 0) {
      throw invalid('allowed_workspaces', 'must name at least one workspace where not all may use it');
    }
    const at = now.toISOString();
    const row: SecretReferenceTable = {
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      slug: await freeSlug(db, organisationId, body.slug, body.name),
      name: body.name,
      description: body.description || null,
      status: 'active',
      manager_type: body.manager_type,
      auth_config_sealed: sealAuthConfig(vault, auth),
      secret_path: body.secret_path,
      secret_key: body.secret_key ?? null,
      allow_all_workspaces: allowed.length === 0 ? 1 : 0,
      tags: body.tags ? encode(body.tags) : null,
      created_by: actorId(caller),
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('secret_references').values(row).execute();
    await replaceWorkspaces(db, row.id, allowed);
    note({ resourceId: row.id, details: { slug: row.slug, manager_type: row.manager_type } });
    return { object: 'secret-reference' as const, id: row.id, slug: row.slug };
  },
});

const bothWays = () => invalid('allowed_workspaces', 'contradicts allow_all_workspaces: true; send one of them');

const listReferences = endpoint({
  method: 'GET',
  path: '/secret-references',
  tag,
  summary: 'List secret references, newest first',
  access: access('list'),
  query: referenceFilters,
  paging: { size: 20, max: 100 },
  reply: () => listOf(listedReference()),
  async handle({ caller, query, page, db }) {
    const { manager_type, search } = query;
    let matches = db
      .selectFrom('secret_references')
      .where('organisation_id', '=', caller.organisationId)
      .where('status', '=', 'active');
    if (manager_type) matches = matches.where('manager_type', '=', manager_type);
    for (const pair of readTagsQuery(query.tags)) matches = matches.where(carries(pair));
    if (search) matches = matches.where((eb) => holdsInAnyCase(eb.ref('name'), search));
    const { rows, total } = await newestFirst(matches, page);
    return asList(rows.map(asListed), total);
  },
});

const readReference = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'Read a secret reference; its credentials are masked',
  access: access('read'),
  params: referencePath,
  reply: referenceRecord,
  async handle({ caller, params, db, services }) {
    return asRecord(db, await reachReference(db, caller.organisationId, params.secretReference), services);
  },
});

const updateReference = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Change a secret reference; what is left out stays as it is',
  access: access('update'),
  audit: { resource: 'secret_reference', action: 'update' },
  params: referencePath,
  body: referenceUpdate,
  reply: empty,
  async handle({ caller, params, body, db, now, services, changed, note }) {
    const { organisationId } = caller;
    const { vault, settings } = services;
    const row = await reachReference(db, organisationId, params.secretReference);
    if (body.manager_type && body.manager_type !== row.manager_type) {
      throw invalid('manager_type', 'never changes; make another secret reference');
    }
    if (body.slug && body.slug !== row.slug) throw invalid('slug', 'never changes; make another secret reference');
    const fields = sentFields(body, changeableFields());
    if (body.allow_all_workspaces && body.allowed_workspaces) throw bothWays();
    const auth =
      body.auth_config &&
      checkedAuthConfig(
        row.manager_type,
        body.auth_config,
        openAuthConfig(vault, row.auth_config_sealed),
        settings.trustedHosts,
      );
    if (body.secret_path !== undefined) requireFittingPath(row.manager_type, body.secret_path);
    const opened = body.allowed_workspaces && (await workspacesNamed(db, organisationId, body.allowed_workspaces));
    if (body.allow_all_workspaces === false && !opened && row.allow_all_workspaces === 1) {
      throw invalid('allowed_workspaces', 'must name at least one workspace where not all may use it');
    }
    const forAll = body.allow_all_workspaces ?? (opened ? false : row.allow_all_workspaces === 1);
    const columns: Partial<SecretReferenceTable> = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.description !== undefined && { description: body.description || null }),
      ...(auth && { auth_config_sealed: sealAuthConfig(vault, auth) }),
      ...(body.secret_path !== undefined && { secret_path: body.secret_path }),
      ...(body.secret_key !== undefined && { secret_key: body.secret_key }),
      ...(body.tags !== undefined && { tags: body.tags && encode(body.tags) }),
      allow_all_workspaces: forAll ? 1 : 0,
      last_updated_at: now.toISOString(),
    };
    await db.updateTable('secret_references').set(columns).where('id', '=', row.id).execute();
    if (forAll) await replaceWorkspaces(db, row.id, []);
    else if (opened) await replaceWorkspaces(db, row.id, opened);
    changed({ topic: 'catalog', id: organisationId });
    note({ resourceId: row.id, details: { slug: row.slug, fields } });
    return {};
  },
});

const deleteReference = endpoint({
  method: 'DELETE',
  path,
  tag,
  summary: 'Delete a secret reference that nothing is mapped to',
  access: access('delete'),
  audit: { resource: 'secret_reference', action: 'delete' },
  params: referencePath,
  reply: empty,
  async handle({ caller, params, db, now, services, changed, note }) {
    const row = await reachReference(db, caller.organisationId, params.secretReference);
    const users = await usersOf(db, row);
    if (users.length > 0) throw invalid('', `It is in use by ${users.join(', ')}; take the mapping away there first`);
    await db
      .updateTable('secret_references')
      // An archived reference needs no credentials.
      .set({
        status: 'archived',
        auth_config_sealed: sealAuthConfig(services.vault, {}),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', row.id)
      .execute();
    await replaceWorkspaces(db, row.id, []);
    changed({ topic: 'catalog', id: caller.organisationId });
    note({ resourceId: row.id, details: { slug: row.slug, name: row.name } });
    return {};
  },
});

const testReference = endpoint({
  method: 'POST',
  path: `${path}/test`,
  tag,
  summary: 'Fetch the secret once, and say whether it is there; its value is not shown',
  access: access('read'),
  audit: { resource: 'secret_reference', action: 'invoke' },
  atomic: false,
  throttle: 'sensitive',
  params: referencePath,
  body: testRequest,
  bodyRequired: false,
  reply: testResult,
  async handle({ caller, params, body, db, services, commit, note }) {
    const row = await reachReference(db, caller.organisationId, params.secretReference);
    const source = sourceOf(row, services.vault);
    const begun = performance.now();
    const fault = await services.secrets.test(source, body.secret_key ?? row.secret_key, body.value_format);
    const elapsed = Math.round(performance.now() - begun);
    return commit(async () => {
      note({ resourceId: row.id, details: { slug: row.slug, success: fault === null } });
      return {
        object: 'secret-reference-test' as const,
        success: fault === null,
        response_time_ms: elapsed,
        ...(fault && { error: fault.message }),
      };
    });
  },
});

export const secretReferencesResource: Resource = {
  name: 'secret-references',
  savesAddresses: true,
  endpoints: [createReference, listReferences, readReference, updateReference, deleteReference, testReference],
};
