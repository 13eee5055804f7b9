/** The roles in a workspace, as forms offer them. */
import type { WorkspaceRole } from '../../api/types.ts';

export const workspaceRoleChoices: { value: WorkspaceRole; label: string }[] = [
  { value: 'admin', label: 'Admin' },
  { value: 'manager', label: 'Manager' },
  { value: 'member', label: 'Member' },
];
