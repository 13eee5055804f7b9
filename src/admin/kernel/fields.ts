/** Field schemas that more than one resource uses. Every string and list has a bound. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';

export const id = z.uuid();
/** An id or a slug, wherever a workspace or another named thing is referred to. */
export const reference = z.string().trim().min(1).max(255);
export const email = z.string().trim().toLowerCase().max(254).pipe(z.email());
/** A time of a reply: RFC 3339 in UTC. */
export const timestamp = z.string();
export const empty = lazy(() => z.object({}));
/** A part of a person's name; it travels in headers and mails, so it is one line. */
export const personName = z
  .string()
  .trim()
  .max(100)
  .regex(/^\P{Cc}*$/u, 'may hold no control characters');
export const metadata = z
  .record(z.string().min(1).max(128), z.string().max(1024))
  .refine((fields) => Object.keys(fields).length <= 64, { message: 'at most 64 fields' })
  .meta({ maxProperties: 64 });

/** The search of a list: any part of what it looks in, in any case. */
export const search = (where = 'the name') =>
  z.string().trim().min(1).max(255).optional().describe(`Any part of ${where}, in any case`);

/** A switch in any of the forms that clients write. */
export const flag = z
  .union([z.boolean(), z.literal(0), z.literal(1), z.enum(['true', 'false'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 1 || value === 'true')
  .describe('A boolean; 0, 1 and the words are understood too');

/** A comma-separated list in a query parameter. */
export const commaList = <T extends z.ZodType<unknown, string>>(item: T, most = 100) =>
  z
    .string()
    .max(8_000)
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .pipe(z.array(item).max(most));
