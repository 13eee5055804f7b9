/** The tools of a request: functions in one declaration, tools that Google runs beside it, and which of them must be used. */
import type { Conversation, Tool, ToolChoice } from '../chat/conversation.ts';
import { isObject, objectOf, present } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { isThirdGeneration, takesJsonSchema } from './generation.ts';
import { hostedFunction, hostedTool } from './hosted-tools.ts';
import { jsonSchema, openApiSchema } from './schema.ts';
import type { Surface } from './surface.ts';

interface ToolFields {
  tools: JsonObject[] | null;
  toolConfig: JsonObject | null;
}

export function toolFields(conversation: Conversation, surface: Surface): ToolFields {
  const { model, tools, toolChoice } = conversation;
  const functions = tools.filter(({ name, parameters }) => !hostedFunction(name, parameters, surface));
  // The mode of calls binds functions only.
  const hosted = toolChoice?.mode === 'none' ? [] : hostedIn(conversation, surface);
  const located = hosted.map(withoutLocation);
  const declared = functions.map((tool) => declaration(tool, model));
  const listed = [...(declared.length > 0 ? [{ functionDeclarations: declared }] : []), ...located];
  const config = present({
    functionCallingConfig: callingConfig(conversation, functions.length > 0, hosted.length > 0),
    retrievalConfig: retrievalConfig(hosted),
    includeServerSideToolInvocations:
      surface === 'studio' && declared.length > 0 && hosted.length > 0 && isThirdGeneration(model) ? true : null,
  });
  return {
    tools: listed.length > 0 ? listed : null,
    toolConfig: Object.keys(config).length > 0 ? config : null,
  };
}

const hostedIn = ({ tools, hostedTools, extras }: Conversation, surface: Surface): JsonObject[] => [
  ...tools.flatMap(({ name, parameters }) => {
    const tool = hostedFunction(name, parameters, surface);
    return tool ? [tool] : [];
  }),
  ...hostedTools.map((tool) => hostedTool(tool, surface)),
  ...(isObject(extras.web_search_options) ? [{ googleSearch: {} }] : []),
];

export function declaration(
  { name, description, parameters }: Pick<Tool, 'name' | 'description' | 'parameters'>,
  model: string,
): JsonObject {
  if (!parameters) return present({ name, description });
  if (takesJsonSchema(model)) return present({ name, description, parametersJsonSchema: jsonSchema(parameters) });
  const schema = openApiSchema(parameters);
  // An object that describes no properties is refused: a function without parameters has none.
  const isEmpty = schema.type === 'object' && !isObject(schema.properties);
  return present({ name, description, parameters: isEmpty ? null : schema });
}

const modes: Readonly<Record<ToolChoice['mode'], string>> = {
  auto: 'AUTO',
  none: 'NONE',
  required: 'ANY',
  tool: 'ANY',
};

function callingConfig({ toolChoice, model }: Conversation, calls: boolean, hosts: boolean): JsonObject | null {
  if (!calls) return null;
  // Functions beside hosted tools work only so.
  if (hosts && isThirdGeneration(model) && (toolChoice === null || toolChoice.mode === 'auto')) {
    return { mode: 'VALIDATED' };
  }
  if (!toolChoice) return null;
  return {
    mode: modes[toolChoice.mode],
    ...(toolChoice.mode === 'tool' && { allowedFunctionNames: [toolChoice.name] }),
  };
}

/** Where the user is, is no part of the maps tool itself. */
function retrievalConfig(hosted: readonly JsonObject[]): JsonObject | null {
  const maps = objectOf(hosted.find((tool) => tool.googleMaps)?.googleMaps);
  const place = locationOf(maps);
  return place && present({ latLng: place, languageCode: maps.languageCode ?? maps.language_code });
}

function locationOf(maps: JsonObject): JsonObject | null {
  if (isObject(maps.latLng)) return maps.latLng;
  const { latitude, longitude } = maps;
  return typeof latitude === 'number' && typeof longitude === 'number' ? { latitude, longitude } : null;
}

function withoutLocation(tool: JsonObject): JsonObject {
  if (!isObject(tool.googleMaps)) return tool;
  const { latLng, latitude, longitude, languageCode, language_code, ...config } = tool.googleMaps;
  return { googleMaps: config };
}
