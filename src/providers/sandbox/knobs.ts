/** What a caller may tell the sandbox to do, in the model's name: `echo+delay=200+status=503`. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';

const wholeNumber = (most: number) => z.coerce.number().int().min(0).max(most);

const knobsSchema = lazy(() =>
  z.object({
    /** Milliseconds before the answer begins. */
    delay: wholeNumber(600_000).default(0),
    /** Milliseconds between two chunks of a stream. */
    pace: wholeNumber(60_000).default(0),
    /** Answer with this status and an error body. */
    status: z.coerce.number().int().min(400).max(599).optional(),
    /** Seconds of a `retry-after` header beside the status. */
    retry_after: wholeNumber(3_600).optional(),
    /** End a stream after so many chunks, as if the connection broke. */
    cut: wholeNumber(100_000).optional(),
    /** Stop sending after so many chunks, without closing. */
    stall: wholeNumber(100_000).optional(),
    /** Split the answer into so many chunks. */
    chunks: z.coerce.number().int().min(1).max(100_000).optional(),
    /** Answer with so many words instead of an echo. */
    words: z.coerce.number().int().min(1).max(100_000).optional(),
  }),
);

export type Knobs = z.output<ReturnType<typeof knobsSchema>>;
export const knobNames = (): readonly string[] => Object.keys(knobsSchema().shape);

/** The knobs in a model's name, or what is wrong with them. */
export function readKnobs(model: string): { knobs: Knobs } | { fault: string } {
  const [, ...settings] = model.split('+');
  const pairs = settings.map((setting) => {
    const [name = '', value = ''] = setting.split('=', 2);
    return [name, value];
  });
  const parsed = knobsSchema().strict().safeParse(Object.fromEntries(pairs));
  if (parsed.success) return { knobs: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    fault: `${issue?.path.join('.') || 'model'}: ${issue?.message ?? 'unreadable'} (knobs: ${knobNames().join(', ')})`,
  };
}
