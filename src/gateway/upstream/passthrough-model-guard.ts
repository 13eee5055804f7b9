/** Models of a call that passes through to a provider of which only some may be used: neither a path, a query nor a body that nobody here can read leads to another one. */
import type { SavedProvider } from '../../catalog/catalog.ts';
import { isAllowed, notAllowed } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { ClientBody } from '../request/body.ts';
import type { FormWatch } from '../request/canonical-form.ts';
import type { PartHead } from '../request/form-head.ts';
import { readsAsModel } from '../request/model-name.ts';
import { type BaseAddress, loosely, partsOf } from './upstream-address.ts';

const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

export function requirePassedModel(
  { request, body }: RequestContext,
  saved: SavedProvider,
  base: BaseAddress,
  url: string,
): void {
  if (readingMethods.has(request.method)) return;
  for (const names of namesInAddress(base, url)) {
    const [name] = names;
    if (name !== undefined && !mayName(saved, names)) throw notAllowed(saved, name, '');
  }
  if (hidesModel(body)) throw hidden(saved);
}

/** Where only some models are enabled, one of the readings must be; where only some are disabled, none of them may be. */
const mayName = (saved: SavedProvider, names: readonly string[]): boolean =>
  saved.models.allowAll ? names.every((name) => isAllowed(saved, name)) : names.some((name) => isAllowed(saved, name));

export const hidden = ({ slug }: SavedProvider): GatewayError =>
  new GatewayError(
    'model_not_allowed',
    `only some models of provider "@${slug}" are enabled, and this body does not show which one it asks for; send it as application/json`,
    { field: 'model' },
  );

/** What each place of the address that names a model may mean; the likeliest first. */
function namesInAddress(base: BaseAddress, url: string): string[][] {
  const { path, query } = partsOf(url);
  // The base is the integration's own; only its last word may mark what stands behind it.
  const behindBase = path.slice(partsOf(base.address).path.replace(/[^/]*$/, '').length - 1);
  return [...namesInPath(behindBase), ...namesInPath(loosely(behindBase)), ...namesInQuery(query)];
}

/** Where providers put the name of a model into the path, which may have slashes of its own. */
const marker = /\/(?:models?|deployments|endpoints|engines|run)\/(?=[^/])/gi;
const mostSegments = 3;

/** What may be meant behind each marker: `models/org/name`, and `models/name:verb` as `name:verb` and as `name`. */
const namesInPath = (path: string): string[][] =>
  [...path.matchAll(marker)].map(({ index, 0: { length } }) => namesAt(path.slice(index + length)));

function namesAt(behind: string): string[] {
  const segments = behind.split('/').slice(0, mostSegments);
  return segments.flatMap((_, index) => {
    const name = decoded(segments.slice(0, index + 1).join('/'));
    const bare = name.replace(/:[a-z]\w*$/i, '');
    return bare === name ? [name] : [bare, name];
  });
}

/** Some servers read names in any case, and some take a semicolon for an ampersand. */
const namesInQuery = (query: string): string[][] =>
  query === ''
    ? []
    : [query, query.replaceAll(';', '&')].flatMap((text) =>
        [...new URLSearchParams(text)].flatMap(([name, model]) => (readsAsModel(name) ? [[model]] : [])),
      );

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not written in percent-encoding, so that it means what it says.
    return text;
  }
}

const opaqueTypes = /^(?:audio|video|image|font)\/|^application\/(?:octet-stream|pdf|zip|gzip)\b/i;

/** Forms are looked at as they go by; sound and pictures name no models. */
function hidesModel(body: ClientBody): boolean {
  if (body.form === 'bytes') return true;
  if (body.form !== 'stream') return false;
  return !/^multipart\/form-data\b/i.test(body.contentType ?? '') && !opaqueTypes.test(body.contentType ?? '');
}

const longestName = 1_024;

/** Sees a form go by, and the models that it names. */
export class ModelWatch implements FormWatch {
  readonly #saved: SavedProvider;
  #name: Buffer | null = null;

  constructor(saved: SavedProvider) {
    this.#saved = saved;
  }

  part({ name }: PartHead): void {
    this.end();
    if (name && readsAsModel(name)) this.#name = Buffer.alloc(0);
  }

  bytes(bytes: Uint8Array): void {
    if (!this.#name) return;
    this.#name = Buffer.concat([this.#name, bytes]);
    if (this.#name.length > longestName) throw hidden(this.#saved);
  }

  end(): void {
    const name = this.#name?.toString();
    this.#name = null;
    if (name !== undefined && !isAllowed(this.#saved, name)) throw notAllowed(this.#saved, name, '');
  }
}
