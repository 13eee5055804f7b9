/** Where statements come from: Gemini's grounding as citations in OpenAI's form. */
import type { Annotation } from '../chat/answer.ts';
import { countOf, isObject, listOf, objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

/** `text` is what the model has said: the places that Gemini names are counted in its bytes, ours in its characters. */
export function citationsOf(grounding: unknown, text: string): Annotation[] {
  const gathered = new Grounding();
  gathered.add(grounding);
  return gathered.citations(text, true);
}

/** What the records of a stream tell of sources: the pages may come in one, what they support in another, before or behind the text. */
export class Grounding {
  #pages: readonly unknown[] = [];
  readonly #supports: JsonObject[] = [];
  #placed = false;

  add(grounding: unknown): void {
    if (!isObject(grounding)) return;
    const pages = listOf(grounding.groundingChunks);
    if (pages.length > 0) this.#pages = pages;
    this.#supports.push(...objectsOf(grounding.groundingSupports));
  }

  /** Those that can be told by now; at the end all of them, and pages that support nothing in particular. */
  citations(text: string, atTheEnd: boolean): Annotation[] {
    const written = Buffer.byteLength(text);
    const isReady = (support: JsonObject): boolean =>
      atTheEnd || (this.#pages.length > 0 && countOf(objectOf(support.segment).endIndex) <= written);
    const ready = this.#supports.filter(isReady);
    const rest = this.#supports.filter((support) => !isReady(support));
    this.#supports.splice(0, this.#supports.length, ...rest);
    const placed = placedIn(this.#pages, ready, text);
    this.#placed ||= placed.length > 0;
    if (!atTheEnd || this.#placed) return placed;
    return this.#pages.flatMap((page) => {
      const source = sourceOf(page);
      return source ? [{ type: 'url_citation', url_citation: source }] : [];
    });
  }
}

function placedIn(pages: readonly unknown[], supports: readonly JsonObject[], text: string): Annotation[] {
  const sources = pages.map(sourceOf);
  const bytes = Buffer.from(text);
  return supports.flatMap((support) => {
    const place = placeOf(objectOf(support.segment), text, bytes);
    return listOf(support.groundingChunkIndices).flatMap((index): Annotation[] => {
      const source = typeof index === 'number' ? sources[index] : null;
      return source ? [{ type: 'url_citation', url_citation: { ...place, ...source } }] : [];
    });
  });
}

function sourceOf(chunk: unknown): { url: string; title: string } | null {
  const { web, maps, retrievedContext, image } = objectOf(chunk);
  const found = [web, maps, retrievedContext, image].find(isObject);
  const url = textOf(found?.uri) ?? textOf(found?.sourceUri);
  return url === null ? null : { url, title: textOf(found?.title) ?? '' };
}

/** Offsets count within one part, and thoughts may stand before it: where they lead elsewhere, the quoted text is looked for. */
function placeOf(segment: JsonObject, text: string, bytes: Buffer): { start_index: number; end_index: number } {
  const characters = (offset: number): number => bytes.subarray(0, offset).toString().length;
  const start_index = characters(countOf(segment.startIndex));
  const end_index = characters(countOf(segment.endIndex));
  const quoted = textOf(segment.text);
  if (quoted === null || text.slice(start_index, end_index) === quoted) return { start_index, end_index };
  const found = text.indexOf(quoted);
  return found < 0 ? { start_index, end_index } : { start_index: found, end_index: found + quoted.length };
}
