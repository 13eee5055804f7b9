/** One reading of a page of a long list: what is known of the list is brought up to date, and the page is found from there. */
import {
  carriedAlong,
  compare,
  type KnownFew,
  type KnownList,
  type KnownMarks,
  neighbours,
  spread,
  withMark,
} from './known-list.ts';
import type { ListQueries, LongList } from './long-list.ts';
import { type Mark, nearest, type PageOfIds, type Point, start, within } from './walk.ts';

/** Lists of so many rows are known by their ids; a walk to them would pass by all other rows. */
const mostFew = 300;
/** The way to a page before this is short. */
const firstMark = 100;

/** Null when the list changed while it was read, or what was known of it is lost: then it must be read once more. */
export async function readPage(list: LongList, queries: ListQueries, known: KnownList): Promise<PageOfIds | null> {
  const { order, page, until = null } = list;
  const { direction } = order;
  const orderName = queries.orderName;

  const few = known.few && covers(known.few) ? known.few : null;
  if (few) return pageOfFew(few);
  const marks = marksInOrder() ?? (await learn());
  return marks && pageOfMany(marks);

  function covers(few: KnownFew): boolean {
    return few.until === null || (until !== null && compare(until, few.until, direction) <= 0);
  }

  /** The marks in this order, or else the end of the list, which is the same in every order. */
  function marksInOrder(): KnownMarks | null {
    const inOrder = known.marks.get(orderName);
    if (inOrder) return inOrder;
    for (const { moment, marks } of known.marks.values()) {
      const end = marks.filter(({ point }) => point === null);
      if (end.length > 0) return { moment, marks: end };
    }
    return null;
  }

  /** Looks at the list for the first time; null when it is a short one, whose ids are known then. */
  async function learn(): Promise<KnownMarks | null> {
    const tally = list.tallied ? await queries.count() : null;
    if (!tally || tally.total <= mostFew) {
      // From before the look: what changes meanwhile is looked at again.
      const moment = await queries.now();
      const ids = await queries.someIds(mostFew + 1);
      if (ids.length <= mostFew) {
        known.few = { moment, ids, until };
        known.marks.clear();
        return null;
      }
    }
    const { total, moment } = tally ?? (await queries.count());
    const learnt: KnownMarks = { moment, marks: [{ point: until, rank: total }] };
    known.few = null;
    known.marks.set(orderName, learnt);
    return learnt;
  }

  async function pageOfFew(earlier: KnownFew): Promise<PageOfIds | null> {
    const followed = await queries.changesSince(earlier.moment);
    if (!followed) {
      known.few = null;
      return null;
    }
    const { moment, changes } = followed;
    const candidates = [...new Set([...earlier.ids, ...changes.map(({ id }) => id)])];
    const found = candidates.length === 0 ? [] : await queries.among(candidates, earlier.until, queries.still(moment));
    const ids = found.map(({ id }) => id);
    known.few = ids.length <= mostFew ? { moment, ids, until: earlier.until } : null;
    if (found.some(({ still }) => !still)) return null;
    const asked = until ? found.filter((row) => compare(row, until, direction) < 0) : found;
    return { ids: asked.slice(page.offset, page.offset + page.size).map(({ id }) => id), total: asked.length };
  }

  async function pageOfMany(earlier: KnownMarks): Promise<PageOfIds | null> {
    const followed = await queries.changesSince(earlier.moment);
    if (!followed) {
      known.marks.clear();
      return null;
    }
    const { moment, changes } = followed;
    const marks = carriedAlong(earlier.marks, changes, direction);
    known.marks.set(orderName, { moment, marks });
    const total = await rankOf(until, marks, moment);
    if (total === null) return null;
    if (total <= mostFew / 2) {
      known.marks.clear();
      return null;
    }
    const end: Mark = { point: until, rank: total };
    const span = within(page, total);
    const mark = nearest([start, end, ...marks], span.offset);
    const found = await queries.walk(mark, span, queries.still(moment));
    if (found.length < span.size || found.some(({ still }) => !still)) return null;
    const current = withMark(marks, end);
    const [first] = found;
    const passed =
      first && span.offset >= firstMark ? { point: { place: first.place, id: first.id }, rank: span.offset } : null;
    known.marks.set(orderName, { moment, marks: spread(passed ? withMark(current, passed) : current) });
    return { ids: found.map(({ id }) => id), total };
  }

  /** How many rows stand before a point, or in the whole list; null when it changed since that moment. */
  async function rankOf(point: Point | null, marks: readonly Mark[], moment: string): Promise<number | null> {
    const [before = start, there, after = null] = neighbours(marks, point, direction);
    if (there) return there.rank;
    const still = queries.still(moment);
    const counted = (point && (await queries.rankBetween(before, point, after, still))) ?? (await queries.count(still));
    return counted.still ? counted.total : null;
  }
}
