/** Where the keys are that a caller may see and asks for. */
import { type Caller, mayInOrganisation, workspacesWith } from '../../identity/caller.ts';
import type { ApiKeyType } from '../../store/schema.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { keepsToOwnKeys, keyScope } from './access.ts';
import { type KeyListQuery, keyTypes } from './schema.ts';

/** Keys of one type that the caller sees: in the whole organisation or in some workspaces, of everybody or of one person. */
export interface View {
  type: ApiKeyType;
  workspaces: string[] | 'all';
  owner: string | null;
}

export interface Reach {
  views: View[];
  /** Every workspace in view, or null when the whole organisation is. */
  workspaces: string[] | null;
  /** The person whose keys alone are asked for, or in view. */
  owner: string | null;
  /** The types in view, where every key of them is; null where the views differ from each other. */
  types: ApiKeyType[] | null;
}

export function reachOf(caller: Caller, query: KeyListQuery, workspace: NamedWorkspace | null): Reach {
  const workspaceId = workspace?.id ?? null;
  const types = keyTypes.filter((type) => !query.type || type === query.type || type.endsWith(`-${query.type}`));
  const views = types.flatMap((type) => viewsOf(caller, type, workspaceId));
  const workspaces = workspaceId !== null ? [workspaceId] : workspacesOf(views);
  const whole = views.length > 0 && views.every((view) => isWhole(view, workspaces));
  return {
    views,
    workspaces,
    owner: query.user_id ?? onlyOwner(views),
    types: whole ? views.map((view) => view.type) : null,
  };
}

function viewsOf(caller: Caller, type: ApiKeyType, workspaceId: string | null): View[] {
  const scope = keyScope(type, 'list');
  if (type === 'organisation-service') {
    const visible = workspaceId === null && mayInOrganisation(caller, scope);
    return visible ? [{ type, workspaces: 'all', owner: null }] : [];
  }
  const held = workspacesWith(caller, scope);
  if (held === 'all') return [{ type, workspaces: 'all', owner: null }];
  const here = held.filter((id) => workspaceId === null || id === workspaceId);
  const whole = here.filter((id) => !keepsToOwnKeys(caller, id));
  const own = here.filter((id) => keepsToOwnKeys(caller, id));
  return [
    ...(whole.length > 0 ? [{ type, workspaces: whole, owner: null }] : []),
    ...(own.length > 0 && caller.userId !== null ? [{ type, workspaces: own, owner: caller.userId }] : []),
  ];
}

/** True when the view holds every key of its type among those of `workspaces`. */
const isWhole = (view: View, workspaces: readonly string[] | null): boolean =>
  view.owner === null && (view.workspaces === 'all' || view.workspaces.length === workspaces?.length);

function workspacesOf(views: readonly View[]): string[] | null {
  const workspaces = new Set<string>();
  for (const view of views) {
    if (view.workspaces === 'all') return null;
    for (const id of view.workspaces) workspaces.add(id);
  }
  return views.length > 0 ? [...workspaces] : null;
}

const onlyOwner = (views: readonly View[]): string | null =>
  views.length > 0 && views.every((view) => view.owner !== null) ? (views[0]?.owner ?? null) : null;
