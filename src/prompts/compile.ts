/** A prompt's template, compiled: parsed once when it is first used, then filled with the variables of each request. */
import { readJson } from '../bounded-json.ts';
import type { PromptContent } from './content.ts';
import { TemplateFault } from './fault.ts';
import { beginRendering, type Rendering, type RenderSources, renderJson, renderText } from './render.ts';
import { type PartialReference, parseTemplate, partialsOf, type Template } from './template.ts';

/** What the template becomes: the messages of a chat, or the text of a completion. */
export type RenderedPrompt = { messages: readonly unknown[] } | { prompt: string };

/** A template inside the prompt, with the place it stands at: `[1].content`, or nothing for the whole text. */
export interface PromptText {
  within: string;
  template: Template;
}

export interface CompiledPrompt {
  texts: readonly PromptText[];
  /** The saved partials that it names, each once. */
  partials: readonly PartialReference[];
  render(sources: RenderSources): RenderedPrompt;
}

type TemplateSource = Pick<PromptContent, 'string' | 'isRaw' | 'metadata' | 'model'>;

export function compilePrompt(source: TemplateSource): CompiledPrompt {
  if (source.isRaw) return compileRaw(source);
  const messages = messagesOf(source.string);
  return messages ? compileMessages(messages) : compilePlain(source);
}

function compileRaw(source: TemplateSource): CompiledPrompt {
  const template = parseTemplate(source.string);
  return compiled([{ within: '', template }], (rendering) => {
    const text = renderJson(template, rendering);
    return fromJson(source, text);
  });
}

function fromJson(source: TemplateSource, text: string): RenderedPrompt {
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemplateFault(`the rendered template is no JSON (${reason})`, null);
  }
  if (typeof value === 'string') return asPlain(source, value);
  if (isMessages(value)) return { messages: value };
  throw new TemplateFault('the rendered template must be a JSON array of messages', null);
}

/** Every text in the messages is a template of its own; what surrounds it stays as it was saved. */
function compileMessages(messages: readonly unknown[]): CompiledPrompt {
  const texts: PromptText[] = [];
  const fill = compileLeaf(messages, '', texts);
  return compiled(texts, (rendering) => ({ messages: fill(rendering) as unknown[] }));
}

type Fill = (rendering: Rendering) => unknown;

const deepestJson = 100;

function compileLeaf(value: unknown, within: string, texts: PromptText[], depth = 0): Fill {
  if (depth > deepestJson) throw new TemplateFault(`messages may be nested at most ${deepestJson} deep`, null, within);
  if (typeof value === 'string') return compileText(value, within, texts);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => compileLeaf(item, `${within}[${index}]`, texts, depth + 1));
    return (rendering) => items.map((item) => item(rendering));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const fields = Object.entries(value).map(
    ([name, field]) => [name, compileLeaf(field, `${within}.${name}`, texts, depth + 1)] as const,
  );
  return (rendering) => Object.fromEntries(fields.map(([name, field]) => [name, field(rendering)]));
}

function compileText(text: string, within: string, texts: PromptText[]): Fill {
  if (!text.includes('{{')) return () => text;
  const template = told(within, () => parseTemplate(text));
  texts.push({ within, template });
  return (rendering) => told(within, () => renderText(template, rendering));
}

function compilePlain(source: TemplateSource): CompiledPrompt {
  const template = parseTemplate(source.string);
  return compiled([{ within: '', template }], (rendering) => asPlain(source, renderText(template, rendering)));
}

const asPlain = (source: TemplateSource, text: string): RenderedPrompt =>
  isTextPrompt(source) ? { prompt: text } : { messages: [{ role: 'user', content: text }] };

/** Models that complete text and know no messages. */
const textModel = /^(text-)?(ada|babbage|curie|davinci)\b|^gpt-3\.5-turbo-instruct/i;

/** What the prompt says of itself counts before what its model's name tells. */
function isTextPrompt({ metadata, model }: TemplateSource): boolean {
  const type = metadata.template_type;
  if (type === 'text' || type === 'completion' || type === 'completions') return true;
  if (typeof type === 'string') return false;
  return model !== null && textModel.test(model);
}

function compiled(texts: PromptText[], render: (rendering: Rendering) => RenderedPrompt): CompiledPrompt {
  const partials = new Map<string, PartialReference>();
  for (const { template } of texts) {
    for (const reference of partialsOf(template)) partials.set(`${reference.slug}@${reference.version}`, reference);
  }
  return { texts, partials: [...partials.values()], render: (sources) => render(beginRendering(sources)) };
}

/** The messages that a template's text is, or null for plain text. */
function messagesOf(text: string): readonly unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    // Plain text may begin with a bracket as well.
    return null;
  }
  return isMessages(value) ? value : null;
}

const isMessages = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry));

function told<T>(within: string, work: () => T): T {
  try {
    return work();
  } catch (fault) {
    throw fault instanceof TemplateFault && within !== '' ? fault.inside(within) : fault;
  }
}
