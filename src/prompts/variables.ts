/** The variables of a prompt, found in its template: what a form must ask for. */
import type { CompiledPrompt } from './compile.ts';
import type { Place } from './fault.ts';
import { type Name, walkTags } from './template.ts';

/**
 * `text`: it is inserted. `switch`: it only decides whether a section is shown. `list`: a section goes through its elements.
 * `object`: its fields are used. `template`: its text is a template itself.
 */
export type VariableType = 'text' | 'switch' | 'list' | 'object' | 'template';

export interface VariableUse extends Place {
  /** Where in the messages: `[1].content`; empty for the text itself. */
  within: string;
  as: 'value' | 'section' | 'inverted' | 'template';
  /** The sections around it, outermost first: the name may also be a field of one of them. */
  sections: readonly string[];
}

export interface PromptVariable {
  name: string;
  type: VariableType;
  /** False when every use is a section or lies in one: the template says what to do without it. */
  required: boolean;
  uses: readonly VariableUse[];
}

const mostVariables = 500;
const mostUses = 20;

interface Found {
  uses: VariableUse[];
  required: boolean;
  hasFields: boolean;
  goesThrough: boolean;
}

export function variablesOf({ texts }: Pick<CompiledPrompt, 'texts'>): PromptVariable[] {
  const found = new Map<string, Found>();
  for (const { within, template } of texts) {
    walkTags(template, (node, sections) => {
      if (node.kind === 'partial') return;
      const use = roleOf(node);
      if (node.name.parts === null) {
        markAsList(found, sections);
        return;
      }
      const [name = ''] = node.name.parts;
      const variable = entryOf(found, name);
      if (!variable) return;
      if (node.name.parts.length > 1) variable.hasFields = true;
      if (sections.length === 0 && (use === 'value' || use === 'template')) variable.required = true;
      if (variable.uses.length < mostUses) {
        variable.uses.push({ within, ...node.place, as: use, sections: sections.map(({ text }) => text) });
      }
    });
  }
  return [...found].map(([name, variable]) => ({
    name,
    type: typeOf(variable),
    required: variable.required,
    uses: variable.uses,
  }));
}

function entryOf(found: Map<string, Found>, name: string): Found | null {
  const known = found.get(name);
  if (known) return known;
  if (found.size >= mostVariables) return null;
  const fresh: Found = { uses: [], required: false, hasFields: false, goesThrough: false };
  found.set(name, fresh);
  return fresh;
}

/** `{{.}}` is an element of the section around it. */
function markAsList(found: Map<string, Found>, sections: readonly Name[]): void {
  const around = sections.at(-1)?.parts;
  const variable = around && found.get(around[0] ?? '');
  if (variable) variable.goesThrough = true;
}

type Tag = Parameters<Parameters<typeof walkTags>[1]>[0];

const roleOf = (node: Exclude<Tag, { kind: 'partial' }>): VariableUse['as'] => {
  if (node.kind === 'value') return 'value';
  if (node.kind === 'private') return 'template';
  return node.inverted ? 'inverted' : 'section';
};

function typeOf({ uses, hasFields, goesThrough }: Found): VariableType {
  if (hasFields) return 'object';
  if (goesThrough) return 'list';
  if (uses.some(({ as }) => as === 'template')) return 'template';
  return uses.some(({ as }) => as === 'value') ? 'text' : 'switch';
}
