/** The pages that people see on their way through OAuth: plain forms in the console's colours, without anything from elsewhere. */

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const style = `
:root{color-scheme:light dark;--bg:#f8f9fa;--card:#fff;--text:#212529;--dim:#868e96;--line:#dee2e6;--main:#228be6}
@media(prefers-color-scheme:dark){:root{--bg:#1a1b1e;--card:#25262b;--text:#c1c2c5;--dim:#909296;--line:#373a40;--main:#4dabf7}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{width:min(28rem,92vw);padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:8px}
h1{font-size:1.25rem;margin:0 0 1rem}dl{margin:0 0 1.5rem}dt{color:var(--dim);font-size:.85rem}dd{margin:0 0 .75rem;overflow-wrap:anywhere}
label{display:block;font-size:.9rem;margin-bottom:1rem}select,input{display:block;width:100%;padding:.5rem;margin-top:.25rem;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:inherit;font:inherit}
button{padding:.5rem 1.25rem;border-radius:4px;border:1px solid var(--line);background:transparent;color:inherit;font:inherit;cursor:pointer}
button.main{background:var(--main);border-color:var(--main);color:#fff}.row{display:flex;gap:.75rem}.error{color:#fa5252}`;

const page = (title: string, body: string, nonce: string): Response =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escaped(title)}</title><style nonce="${nonce}">${style}</style></head><body><main>${body}</main></body></html>`,
    { headers: pageHeaders(nonce) },
  );

const pageHeaders = (nonce: string): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'`,
});

const newNonce = (): string => crypto.randomUUID().replaceAll('-', '');

export function errorPage(title: string, message: string, status = 400): Response {
  const { headers, body } = page(title, `<h1>${escaped(title)}</h1><p>${escaped(message)}</p>`, newNonce());
  return new Response(body, { status, headers });
}

export const donePage = (message: string): Response =>
  page('Done', `<h1>Done</h1><p>${escaped(message)}</p><p>You may close this window.</p>`, newNonce());

/** Signs in over the API that the console uses, by password or by way of an identity provider, and comes back to the same address. */
export function signInPage(): Response {
  const nonce = newNonce();
  return page(
    'Sign in',
    `<h1>Sign in to continue</h1><p class="error" id="error" role="alert"></p>
<form id="form"><label>E-mail address<input name="email" type="email" autocomplete="username" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password"></label>
<p>Leave the password empty to sign in through your organisation’s identity provider.</p>
<div class="row"><button class="main">Sign in</button></div></form>
<p>Signed in elsewhere? Sign in to the <a href="/" target="_blank" rel="noopener">console</a>, then reload this page.</p>
<script nonce="${nonce}">
document.getElementById('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const fields = Object.fromEntries(new FormData(event.target));
  if (fields.password === '') { delete fields.password; fields.return_to = location.pathname + location.search; }
  const answer = await fetch('/v1/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fields) });
  const told = await answer.json();
  if (told.object === 'session') return location.reload();
  if (told.redirect_url) return location.assign(told.redirect_url);
  document.getElementById('error').textContent = told.data ? told.data.message : 'Enter your password.';
});
</script>`,
    nonce,
  );
}

export interface ConsentView {
  requestId: string;
  csrfToken: string;
  clientName: string;
  redirectUri: string;
  server: string | null;
  scopes: readonly string[];
  organisation: string;
  email: string;
  workspaces: readonly { id: string; name: string }[];
}

const meanings: Readonly<Record<string, string>> = {
  mcp: 'use every tool, prompt and resource',
  'mcp:read': 'list and read, and call tools that change nothing',
  'mcp:write': 'call tools that change something',
};

export function consentPage(view: ConsentView): Response {
  const facts = `<dl><dt>Application</dt><dd>${escaped(view.clientName)}</dd>
<dt>It will be sent to</dt><dd>${escaped(view.redirectUri)}</dd>
<dt>MCP server</dt><dd>${escaped(view.server ?? 'every server of the workspace')}</dd>
<dt>It may</dt><dd>${view.scopes.map((scope) => escaped(meanings[scope] ?? scope)).join('; ')}</dd>
<dt>Signed in as</dt><dd>${escaped(view.email)} (${escaped(view.organisation)})</dd></dl>`;
  if (view.workspaces.length === 0) {
    return page(
      'No access',
      `<h1>No access</h1>${facts}<p>No workspace of ${escaped(view.organisation)} gives you access to this MCP server. Ask an administrator.</p>`,
      newNonce(),
    );
  }
  const options = view.workspaces
    .map(({ id, name }) => `<option value="${escaped(id)}">${escaped(name)}</option>`)
    .join('');
  return page(
    'Allow access',
    `<h1>Allow ${escaped(view.clientName)} to use MCP for you?</h1>${facts}
<form method="post" action="/oauth/postAuthorizeConsent">
<input type="hidden" name="request_id" value="${escaped(view.requestId)}">
<input type="hidden" name="csrf_token" value="${escaped(view.csrfToken)}">
<label>Workspace<select name="workspace_id">${options}</select></label>
<div class="row"><button class="main" name="decision" value="approve">Allow</button><button name="decision" value="deny">Deny</button></div></form>`,
    newNonce(),
  );
}
