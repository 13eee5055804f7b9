/** What the headers of a form and of its parts say, read strictly: what two parsers might read in two ways is refused. */
import { memoize } from '../../memoize.ts';
import { GatewayError } from '../errors.ts';

/** A parameter behind a semicolon: its name, and its value in quotes or without. */
const parameterPattern = /\s*;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/y;

/** Every parameter, in order; null where the text cannot be read to its end. */
function parametersIn(text: string): [name: string, value: string][] | null {
  const found: [string, string][] = [];
  const type = /^[^;]*/.exec(text)?.[0].length ?? 0;
  parameterPattern.lastIndex = type;
  let end = type;
  for (let match = parameterPattern.exec(text); match; match = parameterPattern.exec(text)) {
    found.push([(match[1] ?? '').toLowerCase(), match[2] ?? match[3] ?? '']);
    end = parameterPattern.lastIndex;
  }
  return /^[\s;]*$/.test(text.slice(end)) ? found : null;
}

/** The characters that a boundary may have. */
const boundaryPattern = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;

/** The boundary of a form; null where its type names none. Of two, every parser takes another one. */
export const boundaryOf = memoize((contentType: string): string | null => {
  const parameters = parametersIn(contentType);
  if (!parameters) throw refusedType('its parameters cannot be read');
  const named = parameters.filter(([name]) => name === 'boundary' || name.startsWith('boundary*'));
  const [first] = named;
  if (!first) return null;
  if (named.length > 1) throw refusedType('it names more than one boundary');
  if (first[0] !== 'boundary' || !boundaryPattern.test(first[1])) throw refusedType('its boundary is none');
  return first[1];
});

const refusedType = (reason: string): GatewayError =>
  new GatewayError('invalid_content_type', `the content type of the form cannot be used: ${reason}`, {
    field: 'content-type',
  });

/** Whose part it is: a field, or a file where it has a file's name. */
export interface PartHead {
  /** Null for a part without one, which no form of the web has. */
  name: string | null;
  filename: string | null;
  contentType: string | null;
}

export const isFilePart = ({ filename }: PartHead): boolean => filename !== null;

export function readPartHead(head: string): PartHead {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined || /[\r\n]/.test(line)) throw refusedPart('a header of it is none');
    const key = name.toLowerCase();
    if (fields.has(key)) throw refusedPart(`it has ${key} twice`);
    fields.set(key, value);
  }
  const disposition = fields.get('content-disposition') ?? '';
  const parameters = parametersIn(disposition);
  if (!parameters) throw refusedPart('its disposition cannot be read');
  const names = new Map(parameters);
  if (names.size < parameters.length) throw refusedPart('its disposition says a thing twice');
  const name = names.get('name') ?? null;
  if (names.has('name*') || name?.includes('\\')) throw refusedPart('its name is encoded; write it plainly');
  const filename = names.get('filename') ?? decodedName(names.get('filename*'));
  return { name, filename, contentType: fields.get('content-type') ?? null };
}

/** `UTF-8''a%20name`. */
function decodedName(extended: string | undefined): string | null {
  if (extended === undefined) return null;
  try {
    return decodeURIComponent(extended.replace(/^[^']*'[^']*'/, ''));
  } catch {
    throw refusedPart('the name of its file cannot be read');
  }
}

const refusedPart = (reason: string): GatewayError =>
  new GatewayError('invalid_body', `a part of the form cannot be read: ${reason}`);

/** The same head in the one form that everybody reads alike. */
export function writePartHead({ name, filename, contentType }: PartHead): string {
  const disposition = `Content-Disposition: form-data; name="${escaped(name ?? '')}"`;
  const file = filename === null ? '' : `; filename="${escaped(filename)}"`;
  const type = contentType === null ? '' : `\r\nContent-Type: ${contentType}`;
  return `${disposition}${file}${type}\r\n\r\n`;
}

/** As browsers write them. */
const escaped = (text: string): string => text.replace(/["\\\r\n]/g, encodeURIComponent);
