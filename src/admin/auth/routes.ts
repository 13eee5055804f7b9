/** Signing in, sessions, and the organisation's rules for them. */
import type { Resource } from '../kernel/endpoint.ts';
import { changePassword, changeProfile } from './account.ts';
import { changeAuthSettings, readAuthSettings } from './auth-settings.ts';
import { login } from './login.ts';
import { self } from './self.ts';
import { logout, refresh, switchOrganisation } from './sessions.ts';

export const authResource: Resource = {
  name: 'auth',
  endpoints: [
    login,
    self,
    logout,
    refresh,
    switchOrganisation,
    changePassword,
    changeProfile,
    readAuthSettings,
    changeAuthSettings,
  ],
};
