/** The reference page: a navigation by topic, an introduction, and an article for each endpoint. */
import type { InTurns } from '../../in-turns.ts';
import { type ListedOperation, type OpenApiDocument, operationsOf } from '../openapi-document.ts';
import { article, methodBadge } from './article.ts';
import { Html, html } from './html.ts';
import { introduction } from './introduction.ts';
import { script } from './script.ts';
import { style } from './style.ts';

interface Topic {
  name: string;
  anchor: string;
  operations: ListedOperation[];
}

/** Article by article. */
export function* referencePage(document: OpenApiDocument): InTurns<string> {
  const topics = topicsOf(document);
  const sections: Html[] = [];
  for (const topic of topics) {
    const articles: Html[] = [];
    for (const listed of topic.operations) {
      articles.push(article(document, listed));
      yield;
    }
    sections.push(html`<section class="topic" aria-labelledby="${topic.anchor}">
<h2 id="${topic.anchor}">${topic.name}</h2>
${articles}
</section>`);
  }
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>gw API reference</title>
<style>${new Html(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="side">
<p class="brand"><a href="#main"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M9 10v12M23 10v12M9 16h14M18.5 11.5 23 16l-4.5 4.5"/></svg>gw</a> <span class="edition">API ${document.info.version}</span></p>
<label class="search" hidden><span class="unseen">Filter endpoints</span>
<input type="search" id="filter" placeholder="Filter endpoints" autocomplete="off" spellcheck="false" aria-describedby="found"><kbd aria-hidden="true">/</kbd></label>
<p id="found" class="unseen" role="status"></p>
<details class="menu" open><summary>Endpoints</summary>
<nav aria-label="Endpoints">${topics.map(navigation)}</nav></details>
</header>
<main id="main" tabindex="-1">
${introduction(document)}
${sections}
<p class="nothing" hidden>No endpoint matches. Clear the filter with Escape.</p>
</main>
<script type="module">${new Html(script)}</script>
</body>
</html>
`;
  return page.text;
}

function topicsOf(document: OpenApiDocument): Topic[] {
  const operations = operationsOf(document);
  return document.tags.map(({ name }) => ({
    name,
    anchor: `topic-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

const navigation = (topic: Topic): Html => html`<div class="group"><h2><a href="#${topic.anchor}">${topic.name}</a></h2>
<ul>${topic.operations.map(
  ({ method, operation }) =>
    html`<li data-for="${operation.operationId}"><a href="#${operation.operationId}">${methodBadge(method)}<span>${operation.summary}</span></a></li>`,
)}</ul></div>`;
