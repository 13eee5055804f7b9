/** Metadata schemas that an organisation sets for its keys and workspaces: which are accepted, and what they do to metadata. */
import { z } from 'zod';
import { lazy } from '../lazy.ts';

const fieldName = z.string().min(1).max(128);
const fieldValue = z.string().max(1024);

const propertySchema = () =>
  z
    .strictObject({
      type: z.literal('string'),
      enum: z.array(fieldValue).min(1).max(200).optional(),
      default: fieldValue.optional(),
    })
    .refine((property) => property.default === undefined || (property.enum?.includes(property.default) ?? true), {
      path: ['default'],
      message: 'must be one of the values of enum',
    });

/** The part of JSON Schema draft-07 in which metadata, whose values are all strings, can be described. */
const metadataSchema = lazy(() =>
  z.strictObject({
    type: z.literal('object'),
    additionalProperties: z.literal(true),
    properties: z
      .record(fieldName, propertySchema())
      .refine((properties) => Object.keys(properties).length <= 64, { message: 'at most 64 properties' })
      .optional(),
    required: z.array(fieldName).max(64).optional(),
  }),
);

/** Why this is not an accepted schema, or null when it is one. */
export function faultOfMetadataSchema(schema: unknown): string | null {
  const result = metadataSchema().safeParse(schema);
  if (result.success) return null;
  return result.error.issues
    .map((issue) => {
      const path = issue.path.map(String).join('.');
      return path ? `${path}: ${issue.message}` : issue.message;
    })
    .join('; ');
}

interface MetadataFault {
  path: string;
  message: string;
}

/** Metadata with the schema's defaults written into missing keys, or what is wrong with it. */
export function applyMetadataSchema(
  schema: Record<string, unknown> | null,
  metadata: Record<string, string>,
): { metadata: Record<string, string>; faults: MetadataFault[] } {
  if (schema === null) return { metadata, faults: [] };
  const { properties = {}, required = [] } = metadataSchema().parse(schema);
  const described = Object.entries(properties);
  const defaults = described.flatMap(([name, property]): [string, string][] =>
    property.default === undefined ? [] : [[name, property.default]],
  );
  const complete = new Map([...defaults, ...Object.entries(metadata)]);
  const missing = required
    .filter((name) => !complete.has(name))
    .map((name) => ({ path: name, message: 'is required' }));
  const outside = described.flatMap(([name, { enum: allowed }]) => {
    const value = complete.get(name);
    if (!allowed || value === undefined || allowed.includes(value)) return [];
    return [{ path: name, message: `must be one of ${allowed.join(', ')}` }];
  });
  return { metadata: Object.fromEntries(complete), faults: [...missing, ...outside] };
}
