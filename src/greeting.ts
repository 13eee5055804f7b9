/** What `gw serve` prints when it is ready; on the first start also the only sight of the secrets it made. */
import type { App } from './app.ts';
import { version } from './version.ts';

export function greeting(app: App): string {
  const ready = `gw ${version} serves at ${app.url}  (console: ${app.url}/  reference: ${app.url}/docs)\n`;
  if (!app.firstStart) return ready;
  const { adminKey, workspaceKey, ownerEmail, ownerPassword } = app.firstStart;
  return `${ready}
First start. These secrets are shown once; keep them now:

  admin key       ${adminKey}
  workspace key   ${workspaceKey}
  console login   ${ownerEmail}
  password        ${ownerPassword}

Try it:

  curl ${app.url}/v1/chat/completions -H "x-gw-api-key: ${workspaceKey}" -H "content-type: application/json" \\
    -d '{"model": "@sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'

`;
}
