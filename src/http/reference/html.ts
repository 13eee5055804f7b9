/** HTML made from templates: whatever is put into one is escaped unless it is HTML itself. */

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlContent = Html | string | number | null | readonly HtmlContent[];

export function html(fixed: TemplateStringsArray, ...contents: HtmlContent[]): Html {
  return new Html(fixed.map((part, at) => part + textOf(contents[at] ?? null)).join(''));
}

function textOf(content: HtmlContent): string {
  if (content === null) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'string' || typeof content === 'number') return Bun.escapeHTML(content);
  return content.map(textOf).join('');
}

/** A sentence in which `backticks` mark code. */
export const prose = (text: string): Html[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
