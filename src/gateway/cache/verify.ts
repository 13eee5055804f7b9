/** Checks a sample of semantic hits: the target is asked all the same, beside the request, and the log tells whether it would have said the same. */

import { cosine } from '../../cache/semantic/cosine.ts';
import { verifyMetadata } from '../../logs/analytics/cache-verification.ts';
import { objectIn, objectOf, objectsOf } from '../../providers/json.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { JsonBody } from '../request/body.ts';
import { makeAside } from './side-call.ts';

export type Embed = (text: string) => Promise<Float32Array | null>;

/** Two answers whose vectors are as near as this say the same in other words. */
const sameMeaning = 0.9;

/** `recalled` is the answer that the client gets; `similarity` that of the two questions. */
export async function verifyHit(
  call: AttemptContext,
  recalled: Uint8Array,
  similarity: number,
  embed: Embed,
): Promise<void> {
  const { context, leaf, shaped, deps } = call;
  const { stream: _, stream_options: __, ...rest } = shaped;
  const json = { ...rest, stream: false };
  const made = await makeAside(
    call,
    {
      ...context,
      body: new JsonBody(Buffer.from(JSON.stringify(json)), json),
      requestId: Bun.randomUUIDv7(),
      spanId: Bun.randomUUIDv7(),
      parentSpanId: context.spanId,
      spanName: 'semantic cache verification',
      receivedAt: deps.clock.now().getTime(),
      startedAt: performance.now(),
    },
    { ...leaf, cache: null },
  );
  const agrees = made.bytes && (await saySame(textOf(recalled), textOf(made.bytes), embed));
  made.settle(agrees === null ? {} : verifyMetadata(agrees, similarity));
  // The request itself has ended by now and lets go of nothing any more.
  deps.bodies.release(context.request);
}

/** Null where it cannot be told. */
async function saySame(one: string, other: string, embed: Embed): Promise<boolean | null> {
  if (one === '' || other === '') return null;
  if (plain(one) === plain(other)) return true;
  const [first, second] = await Promise.all([embed(one), embed(other)]);
  return first && second ? cosine(first, second) >= sameMeaning : null;
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

function textOf(answer: Uint8Array): string {
  const [choice] = objectsOf(objectIn(answer).choices);
  const content = choice?.text ?? (choice && objectOf(choice.message).content);
  return typeof content === 'string' ? content : '';
}
