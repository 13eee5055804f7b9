/** What operations of several calls have in common: reading an answer, asking until something is done, fetching what was made. */
import { readDataUrl } from './chat/media.ts';
import { ProviderFault } from './faults.ts';
import type { ImageRequest, MadeImage } from './images.ts';
import { isObject, parsed } from './json.ts';
import type { JsonObject, ProviderCall, RawAnswer, Step, StepAnswers } from './provider.ts';

export type Stepping<T> = Generator<Step, T, StepAnswers>;

export function objectIn(answer: RawAnswer | undefined): JsonObject {
  const text = new TextDecoder().decode(answer?.bytes);
  const body = parsed(text);
  if (isObject(body)) return body;
  throw new ProviderFault(502, `the provider answered with something else than an object: ${text.slice(0, 500)}`);
}

/** One call, and the object that it was answered with. */
export function* asked(call: ProviderCall): Stepping<JsonObject> {
  const [answer] = yield { calls: [call] };
  return objectIn(answer);
}

/** The same for a call that begins work, with the call that ends it, if the answer tells of any that is still to be ended. */
export function* begun(
  begins: ProviderCall,
  ending: (answer: JsonObject) => ProviderCall | null,
): Stepping<JsonObject> {
  const [answer] = yield { begins, endedBy: (told) => ending(objectIn(told)) };
  return objectIn(answer);
}

const firstWaitMs = 500;
const longestWaitMs = 5_000;
/** The request's own deadline comes first, as a rule. */
const mostPolls = 400;

/** Asks until `done` has something to say; ever less often. */
export function* polled<T>(call: ProviderCall, done: (state: JsonObject) => T | null): Stepping<T> {
  let waitMs = firstWaitMs;
  for (let poll = 0; poll < mostPolls; poll++) {
    const finished = done(yield* asked(call));
    if (finished !== null) return finished;
    yield { waitMs };
    waitMs = Math.min(longestWaitMs, waitMs * 1.5);
  }
  throw new ProviderFault(504, 'the provider did not finish in time');
}

/** Images in the form that was asked for: what stands at an address is fetched where it is wanted as bytes. */
export function* inForm(urls: readonly string[], { form }: ImageRequest): Stepping<MadeImage[]> {
  const made = urls.map((url): MadeImage => {
    const inline = readDataUrl(url);
    return inline ? { base64: inline.base64 } : { url };
  });
  if (form !== 'b64_json') return made;
  const wanted = made.flatMap(({ url }) => (url === undefined ? [] : [url]));
  const answers = yield { calls: wanted.map((path) => ({ method: 'GET', path, bare: true })) };
  const bytesAt = new Map(wanted.map((url, index) => [url, answers[index]?.bytes]));
  return made.map(({ url, base64 }) => ({
    base64: base64 ?? Buffer.from(bytesAt.get(url ?? '') ?? []).toString('base64'),
  }));
}
