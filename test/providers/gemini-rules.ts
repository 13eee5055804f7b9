/** What Gemini refuses: fields that it does not know, calls without their results, thoughts and formats that a model does not have. */
import type { Json } from '../harness.ts';

/** The fields of a message, and of the messages inside it: `true` for what is not looked into. */
export interface Shape {
  [field: string]: true | Shape;
}

const partShape: Shape = {
  text: true,
  thought: true,
  thoughtSignature: true,
  inlineData: { mimeType: true, data: true },
  fileData: { mimeType: true, fileUri: true },
  functionCall: { id: true, name: true, args: true },
  functionResponse: { id: true, name: true, response: true, parts: true },
  mediaResolution: { level: true },
  executableCode: true,
  codeExecutionResult: true,
};

export const contentShape: Shape = { role: true, parts: partShape };

const toolShape: Shape = {
  functionDeclarations: { name: true, description: true, parameters: true, parametersJsonSchema: true },
  googleSearch: true,
  googleSearchRetrieval: true,
  urlContext: true,
  codeExecution: true,
  googleMaps: { enableWidget: true },
  computerUse: true,
  enterpriseWebSearch: true,
};

const requestShape: Shape = {
  contents: contentShape,
  systemInstruction: contentShape,
  tools: toolShape,
  toolConfig: {
    functionCallingConfig: { mode: true, allowedFunctionNames: true },
    retrievalConfig: { latLng: { latitude: true, longitude: true }, languageCode: true },
    includeServerSideToolInvocations: true,
  },
  generationConfig: {
    temperature: true,
    topP: true,
    topK: true,
    seed: true,
    maxOutputTokens: true,
    stopSequences: true,
    candidateCount: true,
    frequencyPenalty: true,
    presencePenalty: true,
    responseLogprobs: true,
    logprobs: true,
    responseMimeType: true,
    responseSchema: true,
    responseJsonSchema: true,
    responseModalities: true,
    speechConfig: true,
    imageConfig: { aspectRatio: true, imageSize: true },
    mediaResolution: true,
    thinkingConfig: { includeThoughts: true, thinkingBudget: true, thinkingLevel: true },
  },
  safetySettings: { category: true, threshold: true, method: true },
  cachedContent: true,
  labels: true,
  serviceTier: true,
};

/** Why the request is refused; null where it is not. */
export function refusalOf(model: string, body: Json): string | null {
  return unknownField(body, requestShape, '') ?? contentFault(model, body) ?? configFault(model, body);
}

export function unknownField(value: Json, shape: Shape, path: string): string | null {
  for (const each of Array.isArray(value) ? value : [value]) {
    if (typeof each !== 'object' || each === null) return `Invalid value at '${path}'`;
    for (const [name, inner] of Object.entries(each)) {
      const known = shape[name];
      if (!known) return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
      const fault = known === true ? null : unknownField(inner, known, path ? `${path}.${name}` : name);
      if (fault) return fault;
    }
  }
  return null;
}

const generation = (model: string): number => Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 2.5);
const partsOf = (content: Json, field: string): Json[] => content.parts.filter((part: Json) => part[field]);

function contentFault(model: string, { contents }: Json): string | null {
  if (!Array.isArray(contents) || contents.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified';
  for (const [index, content] of contents.entries()) {
    if (content.role !== 'user' && content.role !== 'model') return 'Please use a valid role: user, model.';
    if (!content.parts?.length)
      return `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`;
    const calls = partsOf(content, 'functionCall');
    const results = partsOf(content, 'functionResponse');
    const before = index > 0 ? partsOf(contents[index - 1], 'functionCall').length : 0;
    if (results.length !== before && (results.length > 0 || before > 0)) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    }
    if (results.some((part) => !part.functionResponse.name)) {
      return `* GenerateContentRequest.contents[${index}].parts[0].function_response.name: Name cannot be empty.`;
    }
    if (results.some(({ functionResponse }) => typeof functionResponse.response !== 'object')) {
      return 'Invalid value at function_response.response (type.googleapis.com/google.protobuf.Struct)';
    }
    if (generation(model) >= 3 && calls.length > 0 && !calls[0].thoughtSignature) {
      return `Function call is missing a thought_signature in functionCall parts. Function call \`default_api:${calls[0].functionCall.name}\`, position ${index}.`;
    }
  }
  return null;
}

const openApiRefuses = [
  '$ref',
  '$defs',
  '$schema',
  'additionalProperties',
  'const',
  'oneOf',
  'allOf',
  'exclusiveMinimum',
];

export function refusedWord(schema: Json): string | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const word = openApiRefuses.find((name) => name in schema);
  if (word) return `Invalid JSON payload received. Unknown name "${word}": Cannot find field.`;
  if (Array.isArray(schema.type)) return 'Proto field is not repeating, cannot start list.';
  const inner = [...Object.values(schema.properties ?? {}), schema.items, ...(schema.anyOf ?? [])];
  return inner.map(refusedWord).find((fault) => fault !== null) ?? null;
}

const ranges: [pattern: RegExp, least: number, most: number][] = [
  [/2\.5-pro/, 128, 32_768],
  [/2\.5-flash-lite/, 512, 24_576],
  [/2\.5-flash/, 0, 24_576],
];

function configFault(model: string, { generationConfig = {}, tools = [] }: Json): string | null {
  const { thinkingConfig, responseMimeType, responseSchema, candidateCount } = generationConfig;
  const functions = tools.flatMap((tool: Json) => tool.functionDeclarations ?? []);
  const worded = [responseSchema, ...functions.map((one: Json) => one.parameters)].map(refusedWord).find((one) => one);
  if (worded) return worded;
  if (candidateCount > 8) return 'The candidateCount must be between 1 and 8.';
  if (responseMimeType === 'application/json' && functions.length > 0 && generation(model) < 3) {
    return "Function calling with a response mime type: 'application/json' is unsupported";
  }
  return thinkingConfig ? thinkingFault(model, thinkingConfig) : null;
}

function thinkingFault(model: string, { thinkingBudget: budget, thinkingLevel: level }: Json): string | null {
  if (generation(model) < 2.5) return 'Thinking is not supported by this model.';
  if (level !== undefined && budget !== undefined)
    return 'You can only set only one of thinking budget and thinking level.';
  if (level !== undefined && generation(model) < 3) return 'Thinking level is not supported for this model.';
  const isFirstPro = /gemini-3-pro/.test(model);
  if (isFirstPro && level !== undefined && level !== 'LOW' && level !== 'HIGH') {
    return `Thinking level ${level} is not supported for this model.`;
  }
  const range = ranges.find(([pattern]) => pattern.test(model));
  if (budget === undefined || budget === -1 || !range) return null;
  const [, least, most] = range;
  const isOff = budget === 0 && least !== 128;
  return isOff || (budget >= least && budget <= most)
    ? null
    : `The thinking budget ${budget} is invalid. Please choose a value between ${least} and ${most}.`;
}
