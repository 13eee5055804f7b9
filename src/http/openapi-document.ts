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
  maxProperties?: number;
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

/** By its type. */
export type MediaContent = Record<string, { schema: JsonSchema }>;

/** What is sent or answered as JSON. */
export const jsonSchemaOf = (content: MediaContent | undefined): JsonSchema | undefined =>
  content?.['application/json']?.schema;

export type ResponseEntry = { $ref: string } | { description: string; content: MediaContent };

/** `GET /workspaces/:workspaceId/users` is `getWorkspacesByWorkspaceIdUsers`: unique because paths are. */
export function operationIdFor(method: string, path: string): string {
  const words = path
    .replaceAll(/[:*](\w+)/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

export const templateOf = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}');

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

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
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

/** What another part of the program adds to the document. */
export interface DocumentPart {
  operations: readonly ListedOperation[];
  schemas: Readonly<Record<string, JsonSchema>>;
  responses: OpenApiDocument['components']['responses'];
}

/** The part's operations come first, under tags of their own. */
export function withPart(document: OpenApiDocument, part: DocumentPart): OpenApiDocument {
  const { components } = document;
  const paths: OpenApiDocument['paths'] = {};
  for (const { path, method, operation } of [...part.operations, ...operationsOf(document)]) {
    paths[path] = { ...paths[path], [method]: operation };
  }
  const tags = [
    ...part.operations.flatMap(({ operation }) => operation.tags),
    ...document.tags.map(({ name }) => name),
  ];
  return {
    ...document,
    tags: [...new Set(tags)].map((name) => ({ name })),
    paths,
    components: {
      ...components,
      schemas: { ...components.schemas, ...part.schemas },
      responses: { ...components.responses, ...part.responses },
    },
  };
}

const schemaPrefix = '#/components/schemas/';

export const schemaReference = (name: string): JsonSchema => ({ $ref: schemaPrefix + name });

/** The schema itself where a reference stands for it. */
export function resolveSchema(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (!schema.$ref?.startsWith(schemaPrefix)) return schema;
  return document.components.schemas[schema.$ref.slice(schemaPrefix.length)] ?? {};
}
