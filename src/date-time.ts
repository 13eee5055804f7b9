/** Moments as callers write them. */
import { z } from 'zod';

/** RFC 3339. Past the year 9999 a moment is written with a sign, and moments are kept as text whose order is theirs. */
export const dateTime = z.iso
  .datetime({ offset: true })
  .max(40)
  .refine((text) => new Date(text).getUTCFullYear() <= 9_999, { message: 'must lie before the year 10000, in UTC' });
