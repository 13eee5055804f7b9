/** The list of Cohere's models, in OpenAI's form. */
import { objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';

const modelOf = (model: JsonObject): JsonObject => ({
  ...model,
  id: textOf(model.name) ?? '',
  object: 'model',
  created: 0,
  owned_by: 'cohere',
});

export const listModels: Translation = {
  response: (answer) => ({ object: 'list', data: objectsOf(objectOf(answer).models).map(modelOf) }),
};

export const retrieveModel: Translation = { response: (answer) => modelOf(objectOf(answer)) };
