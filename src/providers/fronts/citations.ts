/** Sources of what an answer says: read from annotations in either of OpenAI's forms. */
import type { Annotation } from '../chat/answer.ts';
import { numberOf, objectOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

/** The form without nesting: `{type, url, title, start_index, end_index}`. */
export function flatAnnotation(annotation: Annotation): JsonObject {
  const type = textOf(annotation.type) ?? '';
  const { [type]: nested, ...rest } = annotation;
  return { ...rest, ...objectOf(nested) };
}

interface WebCitation {
  url: string;
  title: string | null;
  /** Where in the answer's whole text it stands. */
  from: number;
  to: number;
}

/** Null for annotations that point to no address. */
export function webCitation(annotation: Annotation): WebCitation | null {
  const flat = flatAnnotation(annotation);
  const url = textOf(flat.url);
  if (url === null) return null;
  return { url, title: textOf(flat.title), from: numberOf(flat.start_index) ?? 0, to: numberOf(flat.end_index) ?? 0 };
}
