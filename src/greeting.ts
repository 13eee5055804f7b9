/** What `gw serve` prints when it is ready; on the first start also the only sight of the secrets it made. */
import type { FirstStart } from './admin/organisations/first-start.ts';
import type { App } from './app.ts';
import { version } from './version.ts';

export function greeting(app: App): string {
  const ready = `gw ${version} serves at ${app.url}  (console: ${app.url}/  reference: ${app.url}/docs)\n`;
  if (!app.firstStart) return ready;
  return `${ready}
${firstSecrets(app.firstStart)}
Try it:

  curl ${app.url}/v1/chat/completions -H "x-gw-api-key: ${app.firstStart.workspaceKey}" -H "content-type: application/json" \\
    -d '{"model": "@sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'

`;
}

/** Output is kept by terminals, supervisors and log stores, so that it holds only what nobody could know otherwise. */
export const firstSecrets = ({ adminKey, workspaceKey, ownerEmail, ownerPassword, chosen }: FirstStart): string =>
  `First start. These secrets are shown once; keep them now:

  admin key       ${chosen.adminKey ? '(the one in GW_ADMIN_API_KEY)' : adminKey}
  workspace key   ${workspaceKey}
  console login   ${ownerEmail}
  password        ${chosen.ownerPassword ? '(the one in GW_OWNER_PASSWORD)' : ownerPassword}
`;
