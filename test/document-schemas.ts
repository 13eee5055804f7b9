/** Compiles the schemas of an OpenAPI document: a component that many of them refer to is compiled once. */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema, OpenApiDocument } from '../src/http/openapi-document.ts';

export function schemaCompiler(
  { components }: OpenApiDocument,
  options: Options,
): (schema: JsonSchema) => ValidateFunction {
  const ajv = new Ajv2020(options);
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'document', components });
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/');
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, known);
    return known;
  };
}
