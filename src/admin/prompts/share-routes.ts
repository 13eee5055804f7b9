/** Sharing prompts and partials with other workspaces of the organisation, and taking that back. */
import { z } from 'zod';
import { invalid } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import { type Endpoint, endpoint } from '../kernel/endpoint.ts';
import { empty, flag, reference } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';
import { partialsBehind } from '../prompt-partials/graph.ts';
import { type ItemKind, type ItemRow, promptAccess, reachOwn, type Seeker } from './access.ts';
import {
  covers,
  putShare,
  readAudience,
  removeShares,
  type ShareInfo,
  shareChange,
  shareOf,
  widened,
} from './sharing.ts';
import { partialsOfPrompt } from './used-partials.ts';

const audience = lazy(() =>
  z.object({
    type: z.enum(['organisation', 'workspaces']),
    workspaces: z.array(reference).max(1_000).optional().describe('Ids or slugs, where the type is `workspaces`'),
    include_partials: flag.optional().describe('Shares the partials that the prompt uses with the same audience'),
    workspace_id: reference.optional(),
  }),
);
const dropped = lazy(() =>
  z.object({
    workspaces: z.array(reference).max(1_000).optional().describe('Only these; without it: all'),
    workspace_id: reference.optional(),
  }),
);
const shareRecord = lazy(() =>
  z.object({
    id: z.string(),
    type: z.enum(['organisation', 'workspaces']),
    workspaces: z.array(z.string()),
    object: z.literal('prompt-share'),
  }),
);

interface Shared {
  kind: ItemKind;
  /** `/prompts` or `/prompts/partials`. */
  base: `/${string}`;
  /** The name of the path's parameter. */
  parameter: 'prompt' | 'partial';
  tag: string;
}

/** The five routes of one kind. */
export function sharingEndpoints({ kind, base, parameter, tag }: Shared): readonly Endpoint[] {
  const audit = {
    resource: kind === 'prompt' ? ('prompt' as const) : ('prompt_partial' as const),
    action: 'manage' as const,
  };
  const access = promptAccess('update');
  const params = () => z.object({ [parameter]: reference });
  const path = `${base}/:${parameter}/share` as const;
  const named = (values: Record<string, string>) => values[parameter] ?? '';

  const share = (
    method: 'POST' | 'PUT',
    summary: string,
    decide: (old: ShareInfo | null, sent: ShareInfo) => ShareInfo,
  ) =>
    endpoint({
      method,
      path,
      tag,
      summary,
      access,
      audit,
      params,
      body: audience,
      reply: shareRecord,
      async handle(call) {
        const { db, now, body, services, changed, note } = call;
        const row = await reachOwn(call, kind, named(call.params), 'update');
        const wanted = decide(await shareOf(db, row.id), await readAudience(db, row, body));
        await sharePartials(call, services, kind, row, wanted, body.include_partials ?? false);
        await putShare(db, kind, row, wanted, now);
        changed(shareChange(row));
        note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, share: wanted } });
        return { id: row.id, ...wanted, object: 'prompt-share' as const };
      },
    });

  const unshare = (method: 'POST' | 'DELETE', summary: string) =>
    endpoint({
      method,
      path: `${base}/:${parameter}/unshare`,
      // Another method than the routes of sharing have, on their path.
      ...(method === 'DELETE' && { aliases: [path] }),
      tag,
      summary,
      access,
      audit,
      params,
      body: dropped,
      bodyRequired: false,
      reply: empty,
      async handle(call) {
        const { db, now, body, changed, note } = call;
        const row = await reachOwn(call, kind, named(call.params), 'update');
        const left = await remaining(call, row, body.workspaces);
        if (left) await putShare(db, kind, row, left, now);
        else await removeShares(db, [row.id]);
        changed(shareChange(row));
        note({ resourceId: row.id, workspaceId: row.workspace_id, details: { slug: row.slug, share: left } });
        return {};
      },
    });

  return [
    share('POST', `Share a ${kind} with other workspaces, besides those that have it already`, widened),
    share('PUT', `Share a ${kind} with these workspaces and no others`, (_, sent) => sent),
    unshare('DELETE', `Take a shared ${kind} back, from everybody or from some workspaces`),
    unshare('POST', `Take a shared ${kind} back, for clients that send no DELETE`),
  ];
}

/** What is left of a share when these workspaces are taken out; null: nothing. */
async function remaining({ db }: Seeker, row: ItemRow, workspaces: string[] | undefined): Promise<ShareInfo | null> {
  if (workspaces === undefined || workspaces.length === 0) return null;
  const old = await shareOf(db, row.id);
  if (!old) return null;
  if (old.type === 'organisation') {
    throw invalid('workspaces', 'it is shared with the whole organisation: share it with single workspaces instead');
  }
  const { workspaces: gone } = await readAudience(db, row, { type: 'workspaces', workspaces });
  const kept = old.workspaces.filter((id) => !gone.includes(id));
  return kept.length > 0 ? { type: 'workspaces', workspaces: kept } : null;
}

/** A prompt is of no use to others without its partials: they are shared along, or the caller hears which are not. */
async function sharePartials(
  { db, caller, workspace }: Seeker,
  { vault, clock }: Services,
  kind: ItemKind,
  row: ItemRow,
  wanted: ShareInfo,
  include: boolean,
): Promise<void> {
  const references = await partialsOfPrompt(db, vault, kind, row);
  const hidden = new Map<string, ItemRow>();
  for (const { row: partial } of await partialsBehind(db, vault, row.workspace_id, references)) {
    if (partial.id !== row.id && !covers(await shareOf(db, partial.id), wanted)) hidden.set(partial.id, partial);
  }
  if (hidden.size === 0) return;
  if (!include) {
    const names = [...hidden.values()].map(({ slug }) => slug).join(', ');
    throw invalid(
      'include_partials',
      `it uses partials that are not shared with them: ${names}; send true to share these too`,
    );
  }
  for (const partial of hidden.values()) {
    await reachOwn({ db, caller, workspace }, 'partial', partial.id, 'update');
    await putShare(db, 'partial', partial, widened(await shareOf(db, partial.id), wanted), clock.now());
  }
}
