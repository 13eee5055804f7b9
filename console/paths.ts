/** The addresses of the console's pages; the program answers each with the console itself. */
export const pagePaths = [
  '/',
  '/login',
  '/invites/:token',
  '/reset-password/:token',
  '/workspaces',
  '/workspaces/:workspaceId',
  '/workspaces/:workspaceId/:tab',
  '/users',
  '/invites',
  '/api-keys',
  '/audit-logs',
  '/notices',
  '/settings',
  '/settings/:tab',
  '/account',
] as const;

export type PagePath = (typeof pagePaths)[number];
