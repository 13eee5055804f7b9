/** Partials on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { reference, timestamp } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';
import { chosenSlug, itemName, listedFields, templateText, versionDescription } from '../prompts/schema.ts';

export const newPartial = () =>
  z.object({
    name: itemName(),
    slug: chosenSlug().optional(),
    string: templateText(),
    version_description: versionDescription().optional(),
    collection_id: reference.optional().describe('Without it: the default collection of the workspace'),
    workspace_id: reference.optional().describe('Required of admin keys and sessions'),
  });

export const partialUpdate = lazy(() =>
  z.object({
    name: itemName().optional(),
    string: templateText().optional(),
    description: versionDescription().optional(),
    version_description: versionDescription().optional().describe('Another name of description'),
    status: z.enum(['active', 'archived']).optional().describe('`archived` deletes it'),
    workspace_id: reference.optional(),
  }),
);

export const partialPath = lazy(() => z.object({ partial: reference.describe('The id or the slug of the partial') }));

export const partialList = () =>
  listOf(z.object({ ...listedFields(), object: z.literal('partial') }).meta({ id: 'ListedPartial' }));

export const partialRecord = () =>
  z
    .object({
      ...listedFields(),
      string: z.string(),
      version: z.number(),
      version_description: z.string(),
      prompt_partial_version_id: z.string(),
      prompt_partial_version_status: z.enum(['active', 'archived']).describe('`active`: this is the published version'),
      object: z.literal('partial'),
    })
    .meta({ id: 'Partial' });

export const partialVersions = () =>
  listOf(
    z
      .object({
        prompt_partial_id: z.string(),
        prompt_partial_version_id: z.string(),
        slug: z.string(),
        version: z.number(),
        string: z.string(),
        description: z.string(),
        created_at: timestamp,
        prompt_version_status: z.enum(['active', 'archived']),
        object: z.literal('partial'),
      })
      .meta({ id: 'PartialVersion' }),
  );

export const createdPartial = lazy(() =>
  z.object({ id: z.string(), slug: z.string(), version_id: z.string(), object: z.literal('partial') }),
);
export const updatedPartial = () =>
  z.object({
    id: z.string(),
    slug: z.string(),
    prompt_partial_version_id: z.string(),
    object: z.literal('partial'),
  });
