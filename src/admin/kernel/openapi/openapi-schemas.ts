/** Writes schemas of endpoints as JSON Schema, and keeps those that have a name of their own in one place. */
import { z } from 'zod';
import type { JsonSchema } from '../../../http/openapi-document.ts';

export interface SchemaBook {
  /** The JSON Schema; schemas with an id (`.meta({ id })`) are replaced by references to components. */
  schema(schema: z.ZodType, io: Side): JsonSchema;
  /** The same, with the outermost schema always spelled out. */
  inline(schema: z.ZodType, io: Side): JsonSchema;
  /** Puts a schema among the components under this name. */
  add(name: string, schema: z.ZodType, io: Side): void;
  components(): Record<string, JsonSchema>;
}

type Side = 'input' | 'output';

export function createSchemaBook(): SchemaBook {
  const components = new Map<string, JsonSchema>();

  const schema = (source: z.ZodType, io: Side): JsonSchema => {
    const { $defs, ...own } = convert(source, io);
    for (const [id, definition] of Object.entries($defs ?? {})) {
      components.set(componentName(id, io), relabel(definition, io));
    }
    return relabel(own, io);
  };

  return {
    schema,
    inline(source, io) {
      const written = schema(source, io);
      const name = written.$ref?.split('/').at(-1);
      return name ? (components.get(name) ?? {}) : written;
    },
    add: (name, source, io) => void components.set(name, schema(source, io)),
    components: () => Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
  };
}

type Converted = JsonSchema & { $defs?: Record<string, JsonSchema> };

function convert(source: z.ZodType, io: Side): Converted {
  const { $schema: _, ...schema } = z.toJSONSchema(source, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      // A reply may grow fields; clients must not be told to refuse them.
      if (io === 'output' && def.type === 'object' && !('catchall' in def && def.catchall)) {
        delete jsonSchema.additionalProperties;
      }
      // JavaScript's own bounds of whole numbers tell a reader nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // A format says the same in a word.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      // The id is the component's name already.
      delete jsonSchema.id;
    },
  });
  return schema as Converted;
}

/** A schema may read differently as input and as output (defaults, transforms), so each side has its own component. */
const componentName = (id: string, io: Side): string => (io === 'input' ? `${id}Input` : id);

function relabel<T>(node: T, io: Side): T {
  if (Array.isArray(node)) return node.map((item) => relabel(item, io)) as T;
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      const id = key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '') : null;
      return [key, id === null ? relabel(value, io) : `#/components/schemas/${componentName(id, io)}`];
    }),
  ) as T;
}
