/** Writes what checks replaced back into the body; places that two of them replaced are replaced once. */
import type { JsonObject } from '../providers/provider.ts';
import type { Edit } from './check.ts';
import { type TextSegment, withTexts } from './text/segments.ts';

/** The body with the edits made. `seen` are the segments that the edits speak of, where the body was replaced since. */
export function edited(
  body: JsonObject,
  segments: readonly TextSegment[],
  edits: readonly Edit[],
  seen: readonly TextSegment[] = segments,
): JsonObject {
  const bySegment = new Map<number, Edit[]>();
  for (const edit of edits) {
    const known = bySegment.get(edit.segment);
    if (known) known.push(edit);
    else bySegment.set(edit.segment, [edit]);
  }
  const changes: { segment: TextSegment; text: string }[] = [];
  for (const [index, own] of bySegment) {
    const segment = segments[index];
    if (!segment || segment.text !== seen[index]?.text) continue;
    changes.push({ segment, text: editedText(segment.text, own) });
  }
  return withTexts(body, changes);
}

/** The text with the edits made; of two that overlap the later one is kept, over the place of both. */
export function editedText(text: string, edits: readonly Omit<Edit, 'segment'>[]): string {
  const ordered = edits
    .map((edit, order) => ({ ...edit, order }))
    .sort((a, b) => a.start - b.start || a.order - b.order);
  const merged: (typeof ordered)[number][] = [];
  for (const edit of ordered) {
    const last = merged.at(-1);
    if (!last || edit.start >= last.end) merged.push({ ...edit });
    else {
      last.end = Math.max(last.end, edit.end);
      if (edit.order > last.order) {
        last.text = edit.text;
        last.order = edit.order;
      }
    }
  }
  let result = '';
  let from = 0;
  for (const { start, end, text: replacement } of merged) {
    result += text.slice(from, start) + replacement;
    from = end;
  }
  return result + text.slice(from);
}

/** What must be replaced in a text to make another of it: all between what both begin and end with. */
export function editsTo(segment: number, from: string, to: string): Edit[] {
  if (from === to) return [];
  let start = 0;
  const shorter = Math.min(from.length, to.length);
  while (start < shorter && from.charCodeAt(start) === to.charCodeAt(start)) start++;
  let tail = 0;
  while (tail < shorter - start && from.charCodeAt(from.length - 1 - tail) === to.charCodeAt(to.length - 1 - tail))
    tail++;
  return [{ segment, start, end: from.length - tail, text: to.slice(start, to.length - tail) }];
}
