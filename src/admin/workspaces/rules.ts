/** Who may see and change what of a workspace, beyond what the scopes say. */
import { forbidden } from '../../http/errors.ts';
import { type Caller, roleIn, runsAll } from '../../identity/caller.ts';
import type { OrganisationSettings } from '../../identity/settings.ts';
import type { WorkspaceUpdate } from './schema.ts';

/** Those who run the organisation, and the workspace's admins and managers. */
export function maySeeSettings(caller: Caller, workspaceId: string): boolean {
  const role = roleIn(caller, workspaceId);
  return runsAll(caller) || role === 'admin' || role === 'manager';
}

export function requireMaySeeSettings(caller: Caller, workspaceId: string): void {
  if (!maySeeSettings(caller, workspaceId)) {
    throw forbidden("A workspace's settings are shown to its admins and managers");
  }
}

/** Budgets and settings: managers have a hand in them only where `managersManageWorkspace` is in force. */
export function requireMayManage(
  caller: Caller,
  workspaceId: string,
  inForce: OrganisationSettings,
  what: string,
): void {
  const role = roleIn(caller, workspaceId);
  if (runsAll(caller) || role === 'admin') return;
  if (role === 'manager' && inForce.security_settings.managersManageWorkspace) return;
  throw forbidden(
    `${what} of a workspace are changed by its admins, and by its managers where managersManageWorkspace is on`,
  );
}

export function requireMayUpdate(
  caller: Caller,
  workspaceId: string,
  inForce: OrganisationSettings,
  update: WorkspaceUpdate,
): void {
  if (update.usage_limits !== undefined || update.rate_limits !== undefined || update.reset_usage) {
    requireMayManage(caller, workspaceId, inForce, 'The budget and rate limits');
  }
  if (update.settings || update.security_settings) requireMayManage(caller, workspaceId, inForce, 'The settings');
}
