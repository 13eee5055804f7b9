/** The parts of an OpenAPI 3.1 document that this program writes and its reference page reads. */

/** A JSON Schema (draft 2020-12), as far as our schemas go. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  /** `{}` here means that the field is refused, whatever it holds. */
  not?: JsonSchema;
  examples?: unknown[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface MediaContent {
  'application/json': { schema: JsonSchema };
}

export type ResponseEntry = { $ref: string } | { description: string; content: MediaContent };

export type SecurityRequirement = Record<string, string[]>;

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: MediaContent };
  responses: Record<string, ResponseEntry>;
  security: SecurityRequirement[];
  /** Other paths of the same operation. */
  'x-aliases': string[];
  /** The kinds of caller that are let in; empty where no credential is needed. */
  'x-callers': string[];
  /** One of these scopes is needed; empty where none is. */
  'x-scope': string[];
  /** Where the scope must be held; null where no credential is needed. */
  'x-level': 'organisation' | 'workspace' | null;
}

const methods = ['get', 'post', 'put', 'delete'] as const;
export type HttpMethod = (typeof methods)[number];

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; summary: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Partial<Record<HttpMethod, OpenApiOperation>>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, { description: string; content: MediaContent }>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

export interface ListedOperation {
  method: HttpMethod;
  path: string;
  operation: OpenApiOperation;
}

/** Every operation, in the order of the document. */
export const operationsOf = (document: OpenApiDocument): ListedOperation[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ method, path, operation }] : [];
    }),
  );

const schemaPrefix = '#/components/schemas/';

export const schemaReference = (name: string): JsonSchema => ({ $ref: schemaPrefix + name });

/** The schema itself where a reference stands for it. */
export function resolveSchema(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (!schema.$ref?.startsWith(schemaPrefix)) return schema;
  return document.components.schemas[schema.$ref.slice(schemaPrefix.length)] ?? {};
}
