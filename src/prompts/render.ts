/** Fills a template with variables. Time and size are bounded whatever the template and the variables are. */
import { type Place, TemplateFault } from './fault.ts';
import { JsonOutput, type Output, TextOutput } from './output.ts';
import { type Name, type PartialReference, parseTemplate, type Template } from './template.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** Finds a saved partial; null when there is none of that name and version. `byCaller`: the text that names it was sent as a variable. */
export type FindPartial = (reference: PartialReference, byCaller: boolean) => Template | null;

export interface RenderSources {
  variables: Variables;
  findPartial: FindPartial;
}

const deepestPartial = 10;
/** Nested sections over lists multiply; these keep a small template from becoming a large bill. */
const mostSteps = 200_000;
const longestOutput = 4 * 1024 * 1024;

/** One rendering: all texts of a prompt share its budget. */
export interface Rendering extends RenderSources {
  steps: number;
  characters: number;
  /** Variables that are templates, by their text: a section may repeat one many times. */
  privatePartials: Map<string, Template>;
}

export const beginRendering = ({ variables, findPartial }: RenderSources): Rendering => ({
  variables,
  findPartial,
  steps: 0,
  characters: 0,
  privatePartials: new Map(),
});

/** What names are looked up in, the innermost first. */
interface Scope {
  value: unknown;
  outer: Scope | null;
}

export function renderText(template: Template, rendering: Rendering): string {
  const output = new TextOutput();
  fill(template, { value: rendering.variables, outer: null }, output, rendering, []);
  return output.text;
}

/** Text that is JSON once it is filled: a value inside a string literal is escaped, one outside it stands as it is. */
export function renderJson(template: Template, rendering: Rendering): string {
  const output = new JsonOutput();
  fill(template, { value: rendering.variables, outer: null }, output, rendering, []);
  return output.text;
}

function fill(
  template: Template,
  scope: Scope,
  output: Output,
  rendering: Rendering,
  /** The partials that are being rendered, outermost first. */
  chain: readonly string[],
): void {
  for (const node of template) {
    spend(rendering, 1);
    if (node.kind === 'text') {
      lengthen(rendering, node.text);
      output.literal(node.text);
    } else if (node.kind === 'value') {
      const text = textOf(lookUp(node.name, scope));
      lengthen(rendering, text);
      output.value(text);
    } else if (node.kind === 'section') {
      for (const inner of repeats(lookUp(node.name, scope), node.inverted, scope)) {
        spend(rendering, 1);
        fill(node.children, inner, output, rendering, chain);
      }
    } else if (node.kind === 'partial') {
      const { slug, version } = node.reference;
      const name = version === 'published' ? slug : `${slug}@${version}`;
      requireFree(name, chain, node.place);
      const partial = rendering.findPartial(node.reference, isOfCaller(chain));
      if (!partial) throw new TemplateFault(`there is no partial ${name}`, node.place, '', 'missing');
      fillPartial(partial, `partial ${name}`, scope, output, rendering, [...chain, name]);
    } else {
      const name = `>${node.name.text}`;
      requireFree(name, chain, node.place);
      const partial = privatePartial(node.name, lookUp(node.name, scope), node.place, rendering);
      fillPartial(partial, `variable ${node.name.text}`, scope, output, rendering, [...chain, name]);
    }
  }
}

/** Whether the text that is being rendered was sent as a variable. */
const isOfCaller = (chain: readonly string[]): boolean => chain.at(-1)?.startsWith('>') ?? false;

function fillPartial(
  partial: Template,
  called: string,
  scope: Scope,
  output: Output,
  rendering: Rendering,
  chain: readonly string[],
): void {
  try {
    output.nested((inner) => fill(partial, scope, inner, rendering, chain));
  } catch (fault) {
    throw fault instanceof TemplateFault ? fault.inside(called) : fault;
  }
}

function requireFree(name: string, chain: readonly string[], place: Place): void {
  const shown = name.replace(/^>/, '');
  if (chain.includes(name)) throw new TemplateFault(`the partial ${shown} contains itself`, place);
  if (chain.length >= deepestPartial) {
    throw new TemplateFault(`partials may be nested at most ${deepestPartial} deep`, place);
  }
}

/** A variable that is sent as template text; one that is missing is an empty one. */
function privatePartial(name: Name, value: unknown, place: Place, { privatePartials }: Rendering): Template {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string') {
    throw new TemplateFault(`the variable "${name.text}" is used as a template here and must be text`, place);
  }
  const known = privatePartials.get(value);
  if (known) return known;
  try {
    const parsed = parseTemplate(value);
    privatePartials.set(value, parsed);
    return parsed;
  } catch (fault) {
    throw fault instanceof TemplateFault ? fault.inside(`variable ${name.text}`) : fault;
  }
}

/** The scopes in which a section is rendered: none, one, or one for each element. */
function repeats(value: unknown, inverted: boolean, outer: Scope): Scope[] {
  const empty = !value || (Array.isArray(value) && value.length === 0);
  if (inverted) return empty ? [outer] : [];
  if (empty) return [];
  return Array.isArray(value) ? value.map((element) => ({ value: element, outer })) : [{ value, outer }];
}

function lookUp({ text, parts }: Name, scope: Scope): unknown {
  if (parts === null) return scope.value;
  const [first = '', ...rest] = parts;
  for (let at: Scope | null = scope; at; at = at.outer) {
    // A variable may itself be called `a.b`.
    if (has(at.value, text)) return at.value[text];
    if (has(at.value, first)) return walk(at.value[first], rest);
  }
  return undefined;
}

function walk(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const part of path) {
    if (!has(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

/** Only what was sent counts, never what every object has by birth. */
const has = (value: unknown, field: string): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field);

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return JSON.stringify(value);
}

function spend(rendering: Rendering, steps: number): void {
  rendering.steps += steps;
  if (rendering.steps > mostSteps) {
    throw new TemplateFault(`rendering takes more than ${mostSteps} steps; use fewer or smaller lists`, null);
  }
}

function lengthen(rendering: Rendering, text: string): void {
  rendering.characters += text.length;
  if (rendering.characters > longestOutput) {
    throw new TemplateFault(`the rendered prompt is longer than ${longestOutput} characters`, null);
  }
}
