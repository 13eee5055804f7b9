/** Collections on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { reference, timestamp } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';

const name = lazy(() => z.string().trim().min(1).max(255));

export const newCollection = () =>
  z.object({
    name: name(),
    workspace_id: reference.optional().describe('Required of admin keys and sessions'),
    parent_collection_id: reference.nullish().describe('The id or slug of the collection that it lies in'),
  });

export const collectionUpdate = () => z.object({ name: name(), workspace_id: reference.optional() });

export const collectionPath = lazy(() =>
  z.object({ collection: reference.describe('The id or the slug of the collection') }),
);

export const collectionFilters = () =>
  z.object({
    workspace_id: reference.optional(),
    search: z.string().max(255).optional().describe('A part of the name, in any case'),
  });

export const createdCollection = () => z.object({ object: z.literal('collection'), id: z.string(), slug: z.string() });

const details = lazy(() =>
  z.object({
    child_collections_count: z.number(),
    prompts_count: z.number(),
    child_collections_last_updated_at: timestamp.nullable(),
    prompts_last_updated_at: timestamp.nullable(),
  }),
);

const fields = lazy(() => ({
  object: z.literal('collection'),
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  workspace_id: z.string(),
  parent_collection_id: z.string().nullable(),
  is_default: z.union([z.literal(0), z.literal(1)]),
  status: z.enum(['active', 'archived']),
  created_at: timestamp,
  last_updated_at: timestamp,
}));

export const collectionList = () =>
  listOf(z.object({ ...fields(), collection_details: details() }).meta({ id: 'ListedCollection' }));

export const collectionRecord = () =>
  z
    .object({
      ...fields(),
      collection_details: details(),
      child_collections: z.array(
        z.object({
          id: z.string(),
          slug: z.string(),
          name: z.string(),
          last_updated_at: timestamp,
          collection_details: details(),
        }),
      ),
    })
    .meta({ id: 'Collection' });
