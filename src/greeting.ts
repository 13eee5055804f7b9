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

export const firstSecrets = ({ adminKey, workspaceKey, ownerEmail, ownerPassword }: FirstStart): string =>
  `First start. These secrets are shown once; keep them now:

  admin key       ${adminKey}
  workspace key   ${workspaceKey}
  console login   ${ownerEmail}
  password        ${ownerPassword}
`;
