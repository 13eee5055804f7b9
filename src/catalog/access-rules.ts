/** Who may use a server that an organisation handed to a workspace: MCP servers and agents alike. */

export interface AccessRules {
  /** Whether the integration is handed to the workspace. */
  granted: boolean;
  defaultAccess: 'allow' | 'deny';
  /** By user id, where it differs from the default. */
  users: ReadonlyMap<string, boolean>;
}

export const mayUse = ({ users, defaultAccess }: AccessRules, userId: string | null): boolean =>
  userId === null || (users.get(userId) ?? defaultAccess === 'allow');
