/** The spans of time of a graph: how long they are, and where they begin on the clock of whoever asks. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A moment and the offset from UTC in which it was written, in minutes. */
export interface LocalTime {
  ms: number;
  offset: number;
}

type Step = { kind: 'fixed'; ms: number } | { kind: 'week' } | { kind: 'month' };

/** The longer the range, the longer the spans, so that a graph has at most about a hundred of them. */
function stepOf(range: number): Step {
  if (range <= hour) return { kind: 'fixed', ms: minute };
  if (range <= 6 * hour) return { kind: 'fixed', ms: 5 * minute };
  if (range <= day) return { kind: 'fixed', ms: 30 * minute };
  if (range <= 7 * day) return { kind: 'fixed', ms: 6 * hour };
  if (range <= 31 * day) return { kind: 'fixed', ms: day };
  return range <= 180 * day ? { kind: 'week' } : { kind: 'month' };
}

/** The moments between which rows are counted; the first lies at or before the start of the range, the last at its end or behind it. */
export function edgesOf({ ms: from, offset }: LocalTime, to: number): number[] {
  const step = stepOf(to - from);
  const shift = offset * minute;
  const edges: number[] = [];
  for (let local = firstEdge(from + shift, step); ; local = nextEdge(local, step)) {
    edges.push(local - shift);
    if (local - shift >= to) return edges;
  }
}

/** Local times count as if they were UTC, so that days and months are those of the clock. */
function firstEdge(local: number, step: Step): number {
  if (step.kind === 'fixed') return Math.floor(local / step.ms) * step.ms;
  const date = new Date(local);
  if (step.kind === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const midnight = Math.floor(local / day) * day;
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  return midnight - sinceMonday * day;
}

function nextEdge(local: number, step: Step): number {
  if (step.kind === 'fixed') return local + step.ms;
  if (step.kind === 'week') return local + 7 * day;
  const date = new Date(local);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** RFC 3339 with the offset: `2026-05-01T00:00:00+02:00`. */
export function localText(ms: number, offset: number): string {
  const text = new Date(ms + offset * minute).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(offset);
  return `${text}${offset < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

/** A moment as a caller wrote it, which is known to be one. */
export function localTime(text: string): LocalTime {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  const offset = Number(hours) * 60 + Number(minutes);
  return { ms: Date.parse(text), offset: sign === '-' ? -offset : offset };
}
