/** What a reader must know before the first call: the address, the credentials, lists, and refusals. */
import { type OpenApiDocument, operationsOf } from '../openapi-document.ts';
import { type Html, html, prose } from './html.ts';

export const introduction = (document: OpenApiDocument): Html => html`<section class="intro" aria-labelledby="title">
<div class="about">
<h1 id="title">API reference</h1>
<p class="lead">Calls to models, and everything the console does: organisations, workspaces, people and keys, over HTTP and JSON. Tools read the same facts in <a href="/openapi.json">openapi.json</a>.</p>
<h4>Credentials</h4>
<p class="prose">Send an API key in the header <code>x-gw-api-key</code> or as a bearer token. A person who signed in sends the session as a bearer token, or as a cookie together with the header <code>x-gw-csrf</code> on calls that write.</p>
<h4>Paths</h4>
<p class="prose">Every path is served under <code>/v1</code> and <code>/v2</code> alike. Wherever a workspace is named, its id or its slug will do. Unknown fields at the top of a body are ignored; inside limits, policies and settings they are refused. Fields left out of an update stay as they are.</p>
<h4>Lists</h4>
<p class="prose">Newest first, in pages: <code>current_page</code> counts from 0, <code>page_size</code> above its maximum is cut to it, and <code>total</code> counts all matches.</p>
<h4>Refusals</h4>
<table aria-label="Refusals"><tbody>${refusals(document).map(
  ([status, meaning]) => html`<tr><th scope="row"><code>${status}</code></th><td>${prose(meaning)}</td></tr>
`,
)}</tbody></table>
</div>
<div class="samples">
<figure><figcaption>First call<button type="button" class="copy" hidden>Copy</button></figcaption>
<pre tabindex="0"><code>export GW_URL=<span class="origin">http://127.0.0.1:8787</span>
export GW_API_KEY=<span class="hole">your key</span>

curl "$GW_URL/v1/workspaces" \\
  -H "x-gw-api-key: $GW_API_KEY"</code></pre></figure>
<figure><figcaption>A refusal</figcaption>
<pre tabindex="0"><code>${refusal}</code></pre></figure>
</div>
</section>`;

const refusal = JSON.stringify(
  {
    success: false,
    data: {
      message: 'name: is required',
      errorCode: 'AB01',
      errors: [{ location: 'body', path: 'name', message: 'is required' }],
    },
    request_id: '0198c5a4-7d3e-7a10-9c52-6f1b2e8d4a77',
  },
  null,
  2,
);

/** Each status that some endpoint refuses with, and what the document says it means. */
function refusals(document: OpenApiDocument): [string, string][] {
  const meanings = new Map<string, string>();
  for (const { operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const name = '$ref' in response ? response.$ref.split('/').at(-1) : undefined;
      const meaning = name && document.components.responses[name]?.description;
      if (meaning) meanings.set(status === 'default' ? 'other' : status, meaning);
    }
  }
  return [...meanings].sort(([a], [b]) => a.localeCompare(b));
}
