/** The models of AI Studio, in OpenAI's form. */
import { objectOf, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';

const modelOf = ({ name }: JsonObject): JsonObject => ({
  id: (textOf(name) ?? '').replace(/^models\//, ''),
  object: 'model',
  created: 0,
  owned_by: 'google',
});

export const listedModels: Translation = {
  response: (answer) => ({ object: 'list', data: objectsOf(objectOf(answer).models).map(modelOf) }),
};

export const oneModel: Translation = { response: (answer) => modelOf(objectOf(answer)) };
