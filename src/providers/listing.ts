/** Pages of a cloud's things as OpenAI's lists: by the id of the last one seen, not by a token. */
import { objectIn, objectsOf, textOf } from './json.ts';
import type { CallFacts, JsonObject, Step, StepAnswers } from './provider.ts';

const mostPages = 20;
const pageSize = 100;
const usual = 20;

/** What a service calls the size of a page, the mark of one, and the mark of the next. */
interface PageWords {
  size: string;
  token: string;
  next: string;
}

const googleWords: PageWords = { size: 'pageSize', token: 'pageToken', next: 'nextPageToken' };
export const awsWords: PageWords = { size: 'maxResults', token: 'nextToken', next: 'nextToken' };

/** `field` holds the things of a page, and `read` brings one into OpenAI's form, or leaves it out. */
export function* listing(
  facts: CallFacts,
  path: string,
  field: string,
  read: (thing: JsonObject) => JsonObject | null,
  words: PageWords = googleWords,
  /** Where all of a thing is told, for lists that leave out whose it is. */
  whole: ((thing: JsonObject) => string) | null = null,
): Generator<Step, JsonObject, StepAnswers> {
  const query = new URLSearchParams(facts.query);
  const limit = Math.min(Math.max(Number(query.get('limit') ?? usual) || usual, 1), pageSize);
  const after = query.get('after');
  const found: JsonObject[] = [];
  let begun = after === null;
  let token = '';
  // Each of them costs a call.
  const asked = whole ? usual : pageSize;
  for (let page = 0; page < mostPages && found.length <= limit; page++) {
    const next = token === '' ? '' : `&${words.token}=${encodeURIComponent(token.toWellFormed())}`;
    const [answer] = yield { calls: [{ method: 'GET', path: `${path}?${words.size}=${asked}${next}` }] };
    const body = objectIn(answer?.bytes);
    const things = objectsOf(body[field]);
    for (const each of whole ? yield* looked(things.map(whole)) : things) {
      const thing = read(each);
      if (!thing) continue;
      if (begun) found.push(thing);
      else begun = thing.id === after;
    }
    token = textOf(body[words.next]) ?? '';
    if (token === '') break;
  }
  const data = found.slice(0, limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  };
}

function* looked(paths: readonly string[]): Generator<Step, JsonObject[], StepAnswers> {
  if (paths.length === 0) return [];
  const answers = yield { calls: paths.map((path) => ({ method: 'GET', path })) };
  return answers.map(({ bytes }) => objectIn(bytes));
}
