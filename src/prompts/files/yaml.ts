/** Writes YAML for people who compare versions: a text of several lines stands in as many lines. Bun reads it. */

import { isDeepStrictEqual } from 'node:util';
import { readJson } from '../../bounded-json.ts';

type Value = string | number | boolean | null | undefined | readonly Value[] | { readonly [name: string]: Value };

/** Plain words need no quotes; what YAML could take for something else keeps them. */
const plainWord = /^[A-Za-z_][\w./-]*$/;
const reserved = /^(?:true|false|yes|no|on|off|null|y|n)$/i;
/** What a block cannot hold as it is: control characters, and breaks that YAML reads as its own. */
const notInBlock = /[^\P{Cc}\n\t]|[\u0085\u2028\u2029\ufeff]/u;

export function yamlOf(document: { readonly [name: string]: Value }): string {
  const text = fields(document, 0, block).join('\n');
  // A text with a shape that a block cannot keep is written in one line after all.
  return `${readsAs(text, document) ? text : fields(document, 0, quoted).join('\n')}\n`;
}

function readsAs(text: string, document: object): boolean {
  try {
    return isDeepStrictEqual(Bun.YAML.parse(text), defined(document));
  } catch {
    return false;
  }
}

type TextWriter = (text: string, indent: number) => string;

const quoted: TextWriter = (text) => (plainWord.test(text) && !reserved.test(text) ? text : JSON.stringify(text));

const block: TextWriter = (text, indent) => {
  if (!text.includes('\n') || notInBlock.test(text) || text.trim() === '') return quoted(text, indent);
  const ends = /\n*$/.exec(text)?.[0].length ?? 0;
  const chomping = ends === 0 ? '-' : ends === 1 ? '' : '+';
  // Without the indicator, spaces at the start of the first line would count as indentation.
  const indicator = /^\s/.test(text) ? '2' : '';
  const pad = ' '.repeat(indent + 2);
  const lines = text.replace(/\n$/, '').split('\n');
  return [`|${indicator}${chomping}`, ...lines.map((line) => (line === '' ? '' : pad + line))].join('\n');
};

function fields(record: { readonly [name: string]: Value }, indent: number, write: TextWriter): string[] {
  const pad = ' '.repeat(indent);
  return Object.entries(record).flatMap(([name, value]) =>
    value === undefined ? [] : [`${pad}${quoted(name, indent)}:${below(value, indent, write)}`],
  );
}

function below(value: Value, indent: number, write: TextWriter): string {
  if (isList(value)) {
    const pad = ' '.repeat(indent + 2);
    return value.length === 0 ? ' []' : `\n${value.map((item) => pad + itemOf(item, indent + 2, write)).join('\n')}`;
  }
  if (isRecord(value)) {
    const lines = fields(value, indent + 2, write);
    return lines.length === 0 ? ' {}' : `\n${lines.join('\n')}`;
  }
  return ` ${scalar(value, indent, write)}`;
}

/** The first field of a record stands behind the dash. */
function itemOf(value: Value, indent: number, write: TextWriter): string {
  if (isRecord(value)) {
    const lines = fields(value, indent + 2, write);
    return lines.length === 0 ? '- {}' : `- ${lines.join('\n').trimStart()}`;
  }
  if (isList(value)) return `-${value.length === 0 ? ' []' : below(value, indent, write)}`;
  return `- ${scalar(value, indent, write)}`;
}

const scalar = (value: Exclude<Value, object>, indent: number, write: TextWriter): string =>
  typeof value === 'string' ? write(value, indent) : JSON.stringify(value ?? null);

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
const isRecord = (value: Value): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As a reader gets it back: fields that are not there are not there. */
const defined = (document: object): unknown => readJson(JSON.stringify(document));
