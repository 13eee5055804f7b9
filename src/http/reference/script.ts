/** The page's own script: the filter, the mark on the endpoint in view, and copying. The page reads well without it. */

export const script = `
const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

const filter = one('#filter');
const articles = all('article');
const links = new Map(all('nav li').map((item) => [item.dataset.for, item]));

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  for (const article of articles) {
    const matches = words.every((word) => article.dataset.words.includes(word));
    article.hidden = !matches;
    links.get(article.id).hidden = !matches;
    if (matches) found++;
  }
  for (const group of all('.group')) group.hidden = !group.querySelector('li:not([hidden])');
  for (const topic of all('.topic')) topic.hidden = !topic.querySelector('article:not([hidden])');
  one('.intro').hidden = words.length > 0;
  one('.nothing').hidden = found > 0;
  one('#found').textContent = words.length > 0 ? found + ' endpoints match' : '';
}

one('.search').hidden = false;
filter.addEventListener('input', applyFilter);
filter.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    filter.value = '';
    applyFilter();
  }
});
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    filter.focus();
    filter.select();
  }
});

const narrow = matchMedia('(max-width: 60rem)');
const menu = one('.menu');
const fit = () => { menu.open = !narrow.matches; };
narrow.addEventListener('change', fit);
fit();
one('nav').addEventListener('click', (event) => {
  if (narrow.matches && event.target.closest('a')) menu.open = false;
});

const inView = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) inView[entry.isIntersecting ? 'add' : 'delete'](entry.target);
  const current = articles.find((article) => inView.has(article));
  for (const [id, item] of links) {
    const link = item.firstElementChild;
    if (id === current?.id) {
      if (link.ariaCurrent) continue;
      link.ariaCurrent = 'true';
      if (!narrow.matches) link.scrollIntoView({ block: 'nearest' });
    } else link.ariaCurrent = null;
  }
}, { rootMargin: '-10% 0px -70% 0px' });
for (const article of articles) watch.observe(article);

for (const origin of all('.origin')) origin.textContent = location.origin;
for (const button of all('.copy')) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
}
`;
