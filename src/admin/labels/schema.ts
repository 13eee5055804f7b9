/** Labels on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { id, reference, timestamp } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';

/** Words that already mean a version. */
const taken = new Set(['latest', 'default']);

const name = lazy(() =>
  z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[A-Za-z0-9_-]+$/, 'may hold letters, digits, _ and - only')
    .refine((text) => !/^\d+$/.test(text), { message: 'must not be a number: numbers are versions' })
    .refine((text) => !taken.has(text.toLowerCase()), { message: 'must not be latest or default' }),
);
const description = lazy(() => z.string().max(1_000));
const color = lazy(() => z.string().max(32).describe('How the label is shown, such as #2f9e44'));
/** The organisation is the caller's own; it is named by clients that know no better. */
const place = () => ({ workspace_id: reference.optional(), organisation_id: reference.optional() });

export const newLabel = () =>
  z.object({
    name: name(),
    description: description().optional(),
    color_code: color().optional(),
    ...place(),
  });

export const labelUpdate = () =>
  z.object({
    name: name().optional(),
    description: description().optional(),
    color_code: color().optional(),
    ...place(),
  });

export const labelPath = lazy(() => z.object({ label: id.describe('The id of the label') }));
export const labelPlace = lazy(() => z.object(place()));
export const labelFilters = () =>
  z.object({ ...place(), search: z.string().max(255).optional().describe('A part of the name, in any case') });

export const labelRecord = lazy(() =>
  z
    .object({
      object: z.literal('label'),
      id: z.string(),
      name: z.string(),
      description: z.string(),
      color_code: z.string(),
      organisation_id: z.string(),
      workspace_id: z.string().nullable().describe('Null for labels of the whole organisation'),
      is_universal: z.boolean().describe('True for production, staging and development, which everybody has'),
      status: z.enum(['active', 'archived']),
      created_at: timestamp,
      last_updated_at: timestamp,
    })
    .meta({ id: 'Label' }),
);
export const labelList = () => listOf(labelRecord());
export const createdLabel = () => z.object({ object: z.literal('label'), id: z.string() });
