/** Scopes as the service knows them; the picker offers exactly what a key of each type may hold. */
import { grantableTo } from '../../src/identity/scopes.ts';
import type { ApiKeyType, Scope } from './types.ts';

const letters = { 'organisation-service': 'A', 'workspace-service': 'S', 'workspace-user': 'U' } as const;

export interface ScopeGroup {
  resource: string;
  scopes: Scope[];
}

/** The grantable scopes of a key type, by resource. */
export function scopeGroups(type: ApiKeyType): ScopeGroup[] {
  const groups = new Map<string, Scope[]>();
  for (const scope of grantableTo(letters[type])) {
    const resource = scope.slice(0, scope.indexOf('.'));
    groups.set(resource, [...(groups.get(resource) ?? []), scope]);
  }
  return [...groups].map(([resource, scopes]) => ({ resource, scopes }));
}

export const actionOf = (scope: Scope): string => scope.slice(scope.indexOf('.') + 1);
