/** Which tools and parameters a request may have. */
import { z } from 'zod';
import { objectOf, objectsOf } from '../../providers/json.ts';
import type { JsonObject } from '../../providers/provider.ts';
import { defineCheck, ParameterFault } from '../check.ts';
import { before } from './events.ts';
import { words } from './fields.ts';

const primitive = () => z.union([z.string().max(1_024), z.number(), z.boolean(), z.null()]);
type Primitive = string | number | boolean | null;

export const requestParametersCheck = defineCheck({
  id: 'default.requestParametersCheck',
  title: 'Request parameters',
  description: 'Passes when the request has no tool, parameter or value that is blocked, and none that is not allowed.',
  category: 'BASIC',
  events: before,
  parameters: () => ({
    tools: z
      .strictObject({
        allowedTypes: words().optional(),
        blockedTypes: words().optional(),
        allowedFunctionNames: words().optional(),
        blockedFunctionNames: words().optional(),
      })
      .optional(),
    params: z
      .strictObject({
        allowedKeys: words().optional(),
        blockedKeys: words().optional(),
        values: z
          .record(
            z.string().max(256),
            z.strictObject({
              allowedValues: z.array(primitive()).max(1_000).optional(),
              blockedValues: z.array(primitive()).max(1_000).optional(),
            }),
          )
          .optional(),
      })
      .optional(),
  }),
  example: { tools: { blockedTypes: ['code_interpreter'] }, params: { values: { n: { allowedValues: [1] } } } },
  prepare({ tools = {}, params = {} }) {
    const types = listOf(tools.allowedTypes, tools.blockedTypes, 'tools.blockedTypes');
    const names = listOf(tools.allowedFunctionNames, tools.blockedFunctionNames, 'tools.blockedFunctionNames');
    const keys = listOf(params.allowedKeys, params.blockedKeys, 'params.blockedKeys');
    const values = new Map(
      Object.entries(params.values ?? {}).map(([name, { allowedValues, blockedValues }]) => [
        name,
        listOf<Primitive>(allowedValues, blockedValues, `params.values.${name}.blockedValues`),
      ]),
    );
    return {
      run({ request }) {
        const blockedToolsFound = objectsOf(request.tools).flatMap((tool) => {
          const type = typeof tool.type === 'string' ? tool.type : '';
          const name = nameOf(tool, type);
          const reasons = [...types.reasons(type, 'type'), ...names.reasons(name, 'name')];
          return reasons.length > 0 ? [{ type, name, reasons }] : [];
        });
        const blockedParamsFound = Object.entries(request).flatMap(([param, value]) => {
          const reasons = keys.reasons(param, 'key');
          const ofValue = isPrimitive(value) ? (values.get(param)?.reasons(value, 'value') ?? []) : [];
          if (reasons.length + ofValue.length === 0) return [];
          return [{ param, ...(ofValue.length > 0 && { value }), reasons: [...reasons, ...ofValue] }];
        });
        const verdict = blockedToolsFound.length + blockedParamsFound.length === 0;
        const explanation = verdict
          ? 'The request has no tool and no parameter that is not allowed.'
          : `The request has ${blockedToolsFound.length} tools and ${blockedParamsFound.length} parameters that are not allowed.`;
        return { verdict, data: { verdict, blockedToolsFound, blockedParamsFound, explanation } };
      },
    };
  },
});

const isPrimitive = (value: unknown): value is Primitive =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const nameOf = (tool: JsonObject, type: string): string => {
  const inFunction = objectOf(tool.function).name;
  if (typeof inFunction === 'string') return inFunction;
  return typeof tool.name === 'string' ? tool.name : type;
};

function listOf<T>(allowed: readonly T[] = [], blocked: readonly T[] = [], path: string) {
  const overlap = allowed.find((entry) => blocked.includes(entry));
  if (overlap !== undefined) throw new ParameterFault(path, `${String(overlap)} is allowed and blocked`);
  return {
    reasons(entry: T, kind: string): string[] {
      const reasons: string[] = [];
      if (blocked.includes(entry)) reasons.push(`${kind}_blocked`);
      if (allowed.length > 0 && !allowed.includes(entry)) reasons.push(`${kind}_not_allowed`);
      return reasons;
    },
  };
}
