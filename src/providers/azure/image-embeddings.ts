/** Embeddings of images on Azure AI: an endpoint of their own, in which text may stand beside each image. */
import { readEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
import { isObject, objectOf, present } from '../json.ts';
import type { CallFacts, Translation } from '../provider.ts';

export const embedsImages = ({ body: { input } }: CallFacts): boolean =>
  Array.isArray(input) ? input.some(isObject) : isObject(input);

/** Images are sent as they are; those on the web are fetched first. */
export const imageEmbeddings: Translation = {
  media: (facts) => readEmbeddings(facts).inputs.flatMap(({ image }) => (image?.startsWith('http') ? [image] : [])),
  request: (facts) => {
    const { inputs, dimensions, encoding, extras } = readEmbeddings(facts);
    return present({
      model: facts.model,
      input: inputs.map(({ text, image }, index) => {
        if (image === null)
          throw new RequestFault(`input[${index}]`, 'text without an image cannot stand among images');
        return present({ image: inline(image, facts), text });
      }),
      dimensions,
      encoding_format: encoding,
      ...extras,
    });
  },
  response: (answer) => objectOf(answer),
};

function inline(image: string, { media }: CallFacts): string {
  const fetched = media.get(image);
  return fetched ? `data:${fetched.mime};base64,${fetched.base64}` : image;
}
