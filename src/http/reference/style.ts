/** The look of the reference page: one column of navigation, one of text, one of examples; light and dark. */

export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff;
  --side: #f7f8f9;
  --line: #e4e7ea;
  --text: #1a2028;
  --soft: #55606d;
  --faint: #66717e;
  --accent: #1b7377;
  --accent-wash: #e4f3f3;
  --chip: #eceff1;
  --code: #f2f4f6;
  --panel: #1a2028;
  --panel-line: #313943;
  --panel-text: #dfe3e8;
  --panel-soft: #a3acb7;
  --get: #1b7377;
  --post: #2a5fb8;
  --put: #8f5708;
  --delete: #b3312c;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12171d;
    --side: #0f1419;
    --line: #252c35;
    --text: #e1e5e9;
    --soft: #a8b1bb;
    --faint: #8b95a1;
    --accent: #5db2b4;
    --accent-wash: #14292c;
    --chip: #232a33;
    --code: #1c232b;
    --panel: #171d24;
    --panel-line: #29313a;
    --get: #5db2b4;
    --post: #86b2f2;
    --put: #dcaa62;
    --delete: #f08d86;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 400 0.9375rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
a { color: inherit; text-decoration: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
code, pre, kbd { font-family: var(--mono); font-size: 0.8125rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; padding: 0.5rem 1rem; background: var(--page); color: var(--accent); }

.side {
  position: fixed;
  inset: 0 auto 0 0;
  width: 18.5rem;
  padding: 1.5rem 0 0;
  display: flex;
  flex-direction: column;
  background: var(--side);
  border-right: 1px solid var(--line);
}
.brand { margin: 0 1.5rem 1.25rem; display: flex; align-items: center; justify-content: space-between; }
.brand a { display: flex; align-items: center; gap: 0.625rem; font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
.brand svg { width: 1.5rem; height: 1.5rem; }
.brand rect { fill: #1b7377; }
.brand path { fill: none; stroke: #ffffff; stroke-width: 2.6; stroke-linecap: round; stroke-linejoin: round; }
.edition { color: var(--faint); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.search { position: relative; display: block; margin: 0 1.5rem 1rem; }
.search input {
  width: 100%;
  height: 2.25rem;
  padding: 0 2.25rem 0 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--page);
  color: inherit;
  font: inherit;
  font-size: 0.875rem;
}
.search input::placeholder { color: var(--faint); opacity: 1; }
.search input:focus { outline: none; border-color: var(--accent); box-shadow: 0 0 0 3px var(--accent-wash); }
.search kbd {
  position: absolute;
  right: 0.5rem;
  top: 0.5rem;
  width: 1.25rem;
  line-height: 1.125rem;
  text-align: center;
  font-size: 0.6875rem;
  color: var(--faint);
  border: 1px solid var(--line);
  border-radius: 0.25rem;
}
.search input:focus { padding-right: 0.625rem; }
.search input:focus + kbd { visibility: hidden; }
.menu { flex: 1; min-height: 0; overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--line) transparent; }
.menu summary { display: none; }
nav { padding: 0.25rem 0.75rem 2rem; }
nav h2 { margin: 1rem 0 0.25rem; padding: 0 0.75rem; font-size: 0.75rem; font-weight: 600; color: var(--text); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a {
  display: grid;
  grid-template-columns: 2.25rem 1fr;
  align-items: baseline;
  padding: 0.25rem 0.75rem;
  border-radius: 0.375rem;
  color: var(--soft);
  font-size: 0.8125rem;
  line-height: 1.4;
}
nav li a span:last-child { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
nav li a:hover { background: var(--chip); color: var(--text); }
nav li a[aria-current] { background: var(--accent-wash); color: var(--text); }
.method { font: 600 0.625rem/1 var(--mono); letter-spacing: 0.02em; }
.get { color: var(--get); }
.post { color: var(--post); }
.put { color: var(--put); }
.delete { color: var(--delete); }

main { margin-left: 18.5rem; padding: 0 3rem 6rem; }
.intro, .topic { max-width: 76rem; margin: 0 auto; }
.intro { padding-top: 3.5rem; }
h1 { margin: 0 0 0.75rem; font-size: 2rem; line-height: 1.2; font-weight: 680; letter-spacing: -0.022em; }
.lead { margin: 0; color: var(--soft); font-size: 1.0625rem; }
.lead a { color: var(--accent); text-decoration: underline; text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
.topic > h2 { margin: 4.5rem 0 0; padding-bottom: 0.75rem; border-bottom: 1px solid var(--line); font-size: 1.375rem; line-height: 1.3; font-weight: 660; letter-spacing: -0.015em; }
.intro, article { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); column-gap: 3rem; align-items: start; }
article { padding: 2.5rem 0; border-bottom: 1px solid var(--line); scroll-margin-top: 0; }
article:last-child { border-bottom: 0; }
h3 { margin: 0; font-size: 1.0625rem; line-height: 1.4; font-weight: 620; letter-spacing: -0.008em; }
h3 a:hover { color: var(--accent); }
h4 { margin: 1.75rem 0 0.5rem; font-size: 0.8125rem; line-height: 1.4; font-weight: 620; }
.prose { margin: 0.5rem 0 0; color: var(--soft); }
h4 + .prose { margin-top: 0; }
.prose code, td code, dd code { padding: 0.0625rem 0.3125rem; border-radius: 0.25rem; background: var(--code); font-size: 0.78125rem; color: var(--text); }
.route { display: flex; align-items: baseline; gap: 0.75rem; margin: 0.375rem 0 0; }
.route .method { font-size: 0.75rem; }
.route code { color: var(--soft); overflow-wrap: anywhere; }
.route var { font-style: normal; color: var(--accent); }

.access { margin: 1rem 0 0; font-size: 0.8125rem; line-height: 1.5; }
.access > div { display: grid; grid-template-columns: 4.5rem 1fr; padding: 0.1875rem 0; align-items: baseline; }
.access dt { color: var(--faint); }
.access dd { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
.chip { display: inline-block; margin: 0 0.25rem 0.125rem 0; padding: 0 0.5rem; border-radius: 1rem; background: var(--chip); color: var(--text); font-size: 0.75rem; line-height: 1.375rem; }
.chip.open { background: var(--accent-wash); color: var(--accent); }

table { width: 100%; border-collapse: collapse; table-layout: fixed; }
tr { border-top: 1px solid var(--line); }
tbody th, td { padding: 0.5rem 0; text-align: left; vertical-align: baseline; font-weight: 400; }
tbody th { width: 38%; padding-right: 1rem; overflow-wrap: anywhere; }
.intro tbody th { width: 4rem; }
.intro td { color: var(--soft); font-size: 0.875rem; }
.prefix { color: var(--faint); }
td { font-size: 0.8125rem; line-height: 1.5; color: var(--soft); }
td p { margin: 0.125rem 0 0; }
.type { color: var(--text); }
.required { color: var(--delete); }
.required::before, .rules span::before { content: "·"; margin: 0 0.375rem; color: var(--faint); }

.samples { position: sticky; top: 1.5rem; min-width: 0; }
figure { margin: 0 0 1rem; border: 1px solid var(--panel-line); border-radius: 0.625rem; overflow: hidden; background: var(--panel); color: var(--panel-text); }
figcaption { display: flex; align-items: center; justify-content: space-between; height: 2.25rem; padding: 0 0.5rem 0 1rem; border-bottom: 1px solid var(--panel-line); font-size: 0.75rem; color: var(--panel-soft); }
.copy { border: 0; padding: 0.125rem 0.5rem; border-radius: 0.25rem; background: none; color: var(--panel-soft); font: inherit; cursor: pointer; }
.copy:hover { color: var(--panel-text); background: var(--panel-line); }
pre { margin: 0; padding: 0.875rem 1rem; max-height: 24rem; overflow: auto; line-height: 1.6; scrollbar-width: thin; scrollbar-color: var(--panel-line) transparent; }
pre code { font-size: 0.78125rem; }
.hole { color: var(--panel-soft); }
.nothing { max-width: 76rem; margin: 4rem auto; color: var(--soft); }

@media (max-width: 80rem) {
  .intro, article { grid-template-columns: minmax(0, 1fr); }
  .samples { position: static; margin-top: 1.75rem; }
  .intro, .topic { max-width: 46rem; }
}
@media (max-width: 60rem) {
  html { scroll-padding-top: 1rem; }
  .side { position: static; width: auto; padding: 1rem 0 0.75rem; border-right: 0; border-bottom: 1px solid var(--line); }
  .brand { margin: 0 1.25rem 0.875rem; }
  .search { margin: 0 1.25rem 0.75rem; }
  .search kbd { display: none; }
  .menu summary { display: list-item; margin: 0 1.25rem; padding: 0.25rem 0; color: var(--soft); font-size: 0.875rem; cursor: pointer; }
  nav { padding-bottom: 0.75rem; }
  nav li a { padding-block: 0.5rem; }
  main { margin-left: 0; padding: 0 1.25rem 4rem; }
  .intro { padding-top: 2rem; }
  .topic > h2 { margin-top: 3rem; }
  tbody th { width: 42%; }
}
@media print { .side, .samples { display: none; } main { margin: 0; padding: 0; } }
`;
