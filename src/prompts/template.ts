/** The template language: a subset of Mustache, parsed into a tree. Faults name line and column. */
import { type Place, TemplateFault } from './fault.ts';
import { placesIn } from './lines.ts';

/** A name with the way into it: `a.b` is the field `b` of what `a` is. */
export interface Name {
  text: string;
  /** Null for `.`, the current element. */
  parts: readonly string[] | null;
}

export interface PartialReference {
  /** Slug or id. */
  slug: string;
  version: 'published' | 'latest' | number;
}

export type TemplateNode =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: Name; place: Place }
  | { kind: 'section'; name: Name; inverted: boolean; children: readonly TemplateNode[]; place: Place }
  | { kind: 'partial'; reference: PartialReference; place: Place }
  /** A partial whose text the caller sends as a variable. */
  | { kind: 'private'; name: Name; place: Place };

export type Template = readonly TemplateNode[];

const mostTags = 10_000;
const deepestSection = 50;
const longestName = 255;

type TagKind = 'value' | 'section' | 'inverted' | 'close' | 'comment' | 'partial' | 'private' | 'literal';

interface Tag {
  kind: TagKind;
  /** What stands between the marks, without the sign that says which kind it is. */
  content: string;
  start: number;
  end: number;
}

interface Open {
  name: Name;
  inverted: boolean;
  children: TemplateNode[];
  place: Place;
}

export function parseTemplate(text: string): Template {
  // Most texts hold no tag at all.
  if (!text.includes('{{')) return text === '' ? [] : [{ kind: 'text', text }];
  const placeOf = placesIn(text);
  const root: TemplateNode[] = [];
  const open: Open[] = [];
  let nodes = root;
  let cursor = 0;
  let tags = 0;

  const addText = (end: number) => {
    if (end > cursor) nodes.push({ kind: 'text', text: text.slice(cursor, end) });
  };

  for (let start = text.indexOf('{{'); start !== -1; start = text.indexOf('{{', cursor)) {
    const tag = readTag(text, start, placeOf);
    const place = placeOf(start);
    tags += 1;
    if (tags > mostTags) throw new TemplateFault(`a template may have at most ${mostTags} tags`, place);
    const line = ownLine(text, tag);
    addText(line ? line.start : tag.kind === 'literal' ? tag.end : start);
    cursor = line ? line.end : tag.end;
    switch (tag.kind) {
      case 'value':
        nodes.push({ kind: 'value', name: nameOf(tag.content, place), place });
        break;
      case 'private':
        nodes.push({ kind: 'private', name: nameOf(tag.content, place), place });
        break;
      case 'partial':
        nodes.push({ kind: 'partial', reference: partialOf(tag.content, place), place });
        break;
      case 'section':
      case 'inverted': {
        if (open.length >= deepestSection) {
          throw new TemplateFault(`sections may be nested at most ${deepestSection} deep`, place);
        }
        const section = { name: nameOf(tag.content, place), inverted: tag.kind === 'inverted', children: [], place };
        open.push(section);
        nodes = section.children;
        break;
      }
      case 'close': {
        const { name, inverted, children, place: opened } = closed(open.pop(), nameOf(tag.content, place), place);
        nodes = open.at(-1)?.children ?? root;
        nodes.push({ kind: 'section', name, inverted, children, place: opened });
      }
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw new TemplateFault(`the section "${unclosed.name.text}" is never closed`, unclosed.place);
  addText(text.length);
  return root;
}

const kindBySign: Readonly<Record<string, TagKind>> = {
  '#': 'section',
  '^': 'inverted',
  '/': 'close',
  '!': 'comment',
  '&': 'value',
  '>': 'partial',
  '=': 'literal',
};

function readTag(text: string, start: number, placeOf: (offset: number) => Place): Tag {
  const triple = text.startsWith('{{{', start);
  const opening = triple ? '{{{' : '{{';
  const closing = triple ? '}}}' : '}}';
  const close = text.indexOf(closing, start + opening.length);
  if (close === -1) throw new TemplateFault(`this tag has no closing ${closing}`, placeOf(start));
  const end = close + closing.length;
  const inner = text.slice(start + opening.length, close);
  if (triple) return { kind: 'value', content: inner, start, end };
  const trimmed = inner.trimStart();
  if (trimmed.startsWith('>>')) return { kind: 'private', content: trimmed.slice(2), start, end };
  const kind = kindBySign[trimmed.charAt(0)];
  return kind ? { kind, content: trimmed.slice(1), start, end } : { kind: 'value', content: inner, start, end };
}

/** Tags that leave nothing behind take their line with them when they stand alone on it. */
function ownLine(text: string, { kind, start, end }: Tag): { start: number; end: number } | null {
  if (kind !== 'section' && kind !== 'inverted' && kind !== 'close' && kind !== 'comment') return null;
  let before = start;
  while (isBlank(text.charCodeAt(before - 1))) before -= 1;
  if (before > 0 && text.charAt(before - 1) !== '\n') return null;
  let after = end;
  while (isBlank(text.charCodeAt(after))) after += 1;
  if (text.startsWith('\r\n', after)) return { start: before, end: after + 2 };
  if (after < text.length && text.charAt(after) !== '\n') return null;
  return { start: before, end: Math.min(after + 1, text.length) };
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

function nameOf(content: string, place: Place): Name {
  const text = content.trim();
  if (text === '') throw new TemplateFault('this tag names nothing', place);
  if (text.length > longestName) throw new TemplateFault(`a name may have at most ${longestName} characters`, place);
  // A brace in a name is a tag that was never closed, up to the next one.
  if (/[{}]/.test(text)) throw new TemplateFault('a name holds no braces; is a tag before it not closed?', place);
  return { text, parts: text === '.' ? null : text.split('.').map((part) => part.trim()) };
}

const partialForm = /^([A-Za-z0-9][A-Za-z0-9_-]{0,254})(?:@(latest|[1-9]\d{0,8}))?$/;

function partialOf(content: string, place: Place): PartialReference {
  const text = content.trim();
  const [, slug, version] = partialForm.exec(text) ?? [];
  if (slug === undefined) {
    throw new TemplateFault(
      `"${text.slice(0, 60)}" names no partial: write its slug, and @ with a version number or latest where one is meant`,
      place,
    );
  }
  if (version === undefined) return { slug, version: 'published' };
  return { slug, version: version === 'latest' ? version : Number(version) };
}

function closed(section: Open | undefined, name: Name, place: Place): Open {
  if (!section) throw new TemplateFault(`no section "${name.text}" is open here`, place);
  if (section.name.text === name.text) return section;
  const { line, column } = section.place;
  throw new TemplateFault(
    `"${name.text}" is closed here, but the open section is "${section.name.text}" of line ${line}, column ${column}`,
    place,
  );
}

/** Every tag of a template with the sections around it, outermost first. */
export function walkTags(
  template: Template,
  visit: (node: Exclude<TemplateNode, { kind: 'text' }>, sections: readonly Name[]) => void,
): void {
  const walk = (nodes: Template, sections: readonly Name[]) => {
    for (const node of nodes) {
      if (node.kind === 'text') continue;
      visit(node, sections);
      if (node.kind === 'section') walk(node.children, [...sections, node.name]);
    }
  };
  walk(template, []);
}

/** The saved partials that a template names, each once. */
export function partialsOf(template: Template): PartialReference[] {
  const found = new Map<string, PartialReference>();
  walkTags(template, (node) => {
    if (node.kind === 'partial') found.set(`${node.reference.slug}@${node.reference.version}`, node.reference);
  });
  return [...found.values()];
}
