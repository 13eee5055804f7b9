/** Signing in, sessions, and the organisation's rules for them. */
import type { Resource } from '../kernel/endpoint.ts';
import { changePassword, changeProfile } from './account.ts';
import { changeAuthSettings, readAuthSettings } from './auth-settings.ts';
import { login } from './login.ts';
import { offerReset, readReset, useReset } from './password-reset.ts';
import { self } from './self.ts';
import { sessionListEndpoints } from './session-list.ts';
import { logout, refresh, switchOrganisation } from './sessions.ts';

export const authResource: Resource = {
  name: 'auth',
  savesAddresses: true,
  endpoints: [
    login,
    self,
    logout,
    refresh,
    switchOrganisation,
    changePassword,
    changeProfile,
    ...sessionListEndpoints,
    offerReset,
    readReset,
    useReset,
    readAuthSettings,
    changeAuthSettings,
  ],
};
