/** Configs may be written in camelCase: this gives every key its snake_case spelling, except where keys belong to someone else. */

/** Below these keys the spelling is the provider's, the guardrail's or the customer's own, so it is kept. */
const opaqueKeys = new Set([
  'override_params',
  'default_params',
  'params',
  'checks',
  'conditions',
  'credentials',
  'input_guardrails',
  'output_guardrails',
  'input_mutators',
  'output_mutators',
  'metadata',
  'forward_headers',
  'vertex_service_account_json',
  'aws_session_tags',
  'cb_config',
]);

const camelCase = /^[a-z][a-z0-9_]*[A-Z]/;

/** `strictOpenAiCompliance` and `strictOpenAICompliance` both become `strict_open_ai_compliance`. */
export function snakeCase(key: string): string {
  if (!camelCase.test(key)) return key;
  return key
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** A deep copy in which the keys are snake_case. A key that stands there in both spellings keeps its camelCase one, which no schema knows. */
export function withSnakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCaseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const spelled = snakeCase(key);
      const name = spelled !== key && Object.hasOwn(value, spelled) ? key : spelled;
      return [name, opaqueKeys.has(spelled) ? structuredClone(inner) : withSnakeCaseKeys(inner)];
    }),
  );
}
