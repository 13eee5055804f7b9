/** Fields that a saved provider has under either of its names, provider or virtual key. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { reference } from '../kernel/fields.ts';

export const name = lazy(() => z.string().trim().min(1).max(255));
export const note = lazy(() => z.string().trim().max(1_024));
export const workspaceField = lazy(() =>
  reference.nullish().describe('Id or slug; may be left out where the calling key fixes it'),
);
