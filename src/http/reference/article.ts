/** One endpoint of the reference: what it does, who may call it, what it takes and what it answers. */
import {
  jsonSchemaOf,
  type ListedOperation,
  type OpenApiDocument,
  type OpenApiOperation,
  resolveSchema,
} from '../openapi-document.ts';
import { curlOf, exampleOf } from './examples.ts';
import { type FieldRow, fieldRows, rulesOf, typeName } from './fields.ts';
import { type Html, type HtmlContent, html, prose } from './html.ts';

const callerNames: Readonly<Record<string, string>> = {
  'admin-key': 'Admin key',
  'workspace-key': 'Workspace key',
  'user-key': 'User key',
  session: 'Signed-in user',
};

export function article(document: OpenApiDocument, listed: ListedOperation): Html {
  const { method, path, operation } = listed;
  const body = jsonSchemaOf(operation.requestBody?.content);
  const reply = replySchema(operation);
  const words = [
    method,
    path,
    ...operation['x-aliases'],
    ...operation.tags,
    operation.summary,
    ...operation['x-scope'],
  ];
  return html`<article id="${operation.operationId}" data-words="${words.join(' ').toLowerCase()}">
<div class="about">
<h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
<p class="route">${methodBadge(method)}<code>${pathWithBreaks(path)}</code></p>
${operation.description ? html`<p class="prose">${prose(operation.description)}</p>` : null}
${access(operation)}
${table('Path', parameterRows(document, operation, 'path'))}
${table('Query', parameterRows(document, operation, 'query'))}
${body ? table('Body', fieldRows(document, body), body.description) : null}
${reply ? table('Reply', fieldRows(document, reply), 'An empty object.') : null}
</div>
<div class="samples">
${sample('Request', curlOf(document, listed))}
${reply ? sample('Reply', JSON.stringify(exampleOf(document, reply, false), null, 2)) : null}
</div>
</article>`;
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method}">${method === 'delete' ? 'DEL' : method.toUpperCase()}</span>`;

/** A long path may break behind a slash, nowhere else. */
const pathWithBreaks = (path: string): Html[] =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => html`/<wbr>${segment.startsWith('{') ? html`<var>${segment}</var>` : segment}`);

function replySchema(operation: OpenApiOperation) {
  const response = operation.responses['200'];
  return response && 'content' in response ? jsonSchemaOf(response.content) : undefined;
}

function access(operation: OpenApiOperation): Html {
  const callers = operation['x-callers'];
  const scopes = operation['x-scope'];
  const aliases = operation['x-aliases'].filter((path) => path.startsWith('/v1/'));
  const where = operation['x-level'] === 'workspace' ? 'in the workspace' : 'on the organisation';
  return html`<dl class="access">
<div><dt>Callers</dt><dd>${
    callers.length === 0
      ? html`<span class="chip open">Anyone</span>`
      : callers.map((kind) => html`<span class="chip">${callerNames[kind] ?? kind}</span> `)
  }</dd></div>
${
  callers.length > 0
    ? html`<div><dt>Scope</dt><dd>${
        scopes.length === 0
          ? 'none needed'
          : html`${separated(scopes.map((scope) => html`<code>${scope}</code>`))} ${where}`
      }</dd></div>`
    : null
}
${
  aliases.length > 0
    ? html`<div><dt>Also</dt><dd>${separated(
        aliases.map((path) => html`<code>${path}</code>`),
        ', ',
      )}</dd></div>`
    : null
}
</dl>`;
}

const separated = (items: Html[], between = ' or '): HtmlContent[] =>
  items.flatMap((item, at) => (at === 0 ? [item] : [between, item]));

const parameterRows = (document: OpenApiDocument, operation: OpenApiOperation, place: 'path' | 'query'): FieldRow[] =>
  operation.parameters
    .filter((parameter) => parameter.in === place)
    .map((parameter) => ({
      prefix: '',
      name: parameter.name,
      type: typeName(document, parameter.schema),
      required: parameter.required,
      rules: rulesOf(document, resolveSchema(document, parameter.schema)),
      description: parameter.description ?? '',
    }));

function table(title: string, rows: FieldRow[], whenEmpty?: string): Html | null {
  if (rows.length === 0) {
    return whenEmpty ? html`<h4>${title}</h4><p class="prose">${prose(whenEmpty)}</p>` : null;
  }
  const showsRequired = title !== 'Reply' && title !== 'Path';
  return html`<h4>${title}</h4>
<table aria-label="${title}"><tbody>
${rows.map(
  (
    row,
  ) => html`<tr><th scope="row"><code>${row.prefix ? html`<span class="prefix">${row.prefix}<wbr></span>` : null}${row.name}</code></th>
<td><span class="type">${row.type}</span>${showsRequired && row.required ? html`<span class="required">required</span>` : null}${
    row.rules.length > 0
      ? html`<span class="rules">${row.rules.map((rule) => html`<span>${prose(rule)}</span>`)}</span>`
      : null
  }${row.description ? html`<p>${prose(row.description)}</p>` : null}</td></tr>
`,
)}</tbody></table>`;
}

const sample = (title: string, text: string): Html => html`<figure>
<figcaption>${title}<button type="button" class="copy" hidden>Copy</button></figcaption>
<pre tabindex="0"><code>${text}</code></pre>
</figure>`;
