/** The models that publishers offer on Vertex AI, page by page, named as this gateway calls them. */
import { objectIn, objectsOf, textOf } from '../json.ts';
import type { JsonObject, Steps } from '../provider.ts';

const publishers = ['google', 'anthropic', 'meta', 'mistralai'];
const mostPages = 20;

export const modelList: Steps = function* () {
  const data: JsonObject[] = [];
  for (const publisher of publishers) {
    let page = '';
    for (let read = 0; read < mostPages; read++) {
      const path = `/v1beta1/publishers/${publisher}/models?pageSize=100${page && `&pageToken=${encodeURIComponent(page.toWellFormed())}`}`;
      // A publisher whose models the project has not taken up is no fault.
      const [answer] = yield { calls: [{ method: 'GET', path, accepts: publisher === 'google' ? [] : [403, 404] }] };
      const body = answer && answer.status < 300 ? objectIn(answer.bytes) : {};
      data.push(...objectsOf(body.publisherModels).map((model) => modelOf(model, publisher)));
      page = textOf(body.nextPageToken) ?? '';
      if (page === '') break;
    }
  }
  return { object: 'list', data };
};

function modelOf({ name }: JsonObject, publisher: string): JsonObject {
  const model = textOf(name)?.split('/').at(-1) ?? '';
  const id = publisher === 'google' ? model : `${publisher}.${model}`;
  return { id, object: 'model', created: 0, owned_by: publisher };
}
