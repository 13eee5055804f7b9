/** Reading documents on Azure AI, which takes their bytes only: what stands at an address is fetched. */
import { isObject, objectOf, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';

const places = ['document_url', 'image_url'];

/** An address may stand in an object of its own. */
const addressAt = (document: JsonObject, place: string): string | null => {
  const value = document[place];
  return textOf(isObject(value) ? value.url : value);
};

function inlineDocument({ body, media }: CallFacts): JsonObject {
  const document = { ...objectOf(body.document) };
  for (const place of places) {
    const fetched = media.get(addressAt(document, place) ?? '');
    if (fetched) document[place] = `data:${fetched.mime};base64,${fetched.base64}`;
  }
  return document;
}

export const ocr: Translation = {
  media: ({ body }) =>
    places.flatMap((place) => {
      const address = addressAt(objectOf(body.document), place);
      return address?.startsWith('http') ? [address] : [];
    }),
  request: (facts) => ({ ...facts.body, model: facts.model, document: inlineDocument(facts) }),
  response: (answer) => objectOf(answer),
};
