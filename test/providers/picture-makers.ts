/** Providers of images, each in its own dialect: at once or after a while, as bytes or at an address. */
import { type Behaviour, bytes, json, type ReceivedCall } from './simulated.ts';

export const picture = Buffer.from([137, 80, 78, 71, 0, 255, 13, 10]);
export const pictureBase64 = picture.toString('base64');

export const pictureAt: Behaviour = bytes(200, picture, { 'content-type': 'image/png' });

/** The form as the provider reads it. */
export async function formIn({ body, headers }: ReceivedCall): Promise<Record<string, string | Buffer>> {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, string | Buffer> = {};
  for (const [name, value] of form)
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
  return fields;
}

const stabilityRefusal = (status: number, ...errors: string[]): Behaviour =>
  json(status, { id: 'a1', name: 'bad_request', errors });

const ratios = new Set(['1:1', '16:9', '9:16', '3:2', '2:3', '5:4', '4:5', '21:9', '9:21']);

export const stabilityApi =
  (key: string): Behaviour =>
  async (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`)
      return stabilityRefusal(401, 'authorization: invalid')(call, response);
    if (call.headers.accept !== 'application/json') return pictureAt(call, response);
    if (call.path.startsWith('/v1/generation/')) {
      const artifacts = Array.from({ length: call.json.samples }, (_, seed) => ({
        base64: pictureBase64,
        finishReason: 'SUCCESS',
        seed,
      }));
      return json(200, { artifacts })(call, response);
    }
    const form = await formIn(call);
    if (form.aspect_ratio && !ratios.has(String(form.aspect_ratio))) {
      return stabilityRefusal(400, 'aspect_ratio: must be one of the ratios')(call, response);
    }
    const filtered = String(form.prompt).includes('forbidden');
    return json(200, { image: pictureBase64, finish_reason: filtered ? 'CONTENT_FILTERED' : 'SUCCESS', seed: 1 })(
      call,
      response,
    );
  };

export const segmindApi =
  (key: string): Behaviour =>
  (call, response) =>
    call.headers['x-api-key'] === key
      ? json(200, { image: pictureBase64, status: 'Success', infer_time: 1.2 })(call, response)
      : json(401, { 'html-message': 'Invalid API key' })(call, response);

/** Pictures are served by the same host, without any key: an address of them is all that it takes. */
const served = (call: ReceivedCall): boolean => call.path.startsWith('/files/');
const hostOf = ({ headers }: ReceivedCall): string => `http://${headers.host}`;

export const falApi =
  (key: string): Behaviour =>
  (call, response) => {
    if (served(call)) return pictureAt(call, response);
    if (call.headers.authorization !== `Key ${key}`)
      return json(401, { detail: 'Authentication is required' })(call, response);
    if (!call.json.prompt) {
      return json(422, { detail: [{ loc: ['body', 'prompt'], msg: 'field required', type: 'value_error.missing' }] })(
        call,
        response,
      );
    }
    const images = Array.from({ length: call.json.num_images }, (_, index) => ({
      url: `${hostOf(call)}/files/${index}.png`,
      width: 512,
      height: 512,
      content_type: 'image/png',
    }));
    return json(200, { images, seed: 1, has_nsfw_concepts: [false] })(call, response);
  };

/** Ready at the second time of asking. */
export function bflApi(key: string): Behaviour {
  let asked = 0;
  return (call, response) => {
    if (served(call)) return pictureAt(call, response);
    if (call.headers['x-key'] !== key) return json(403, { detail: 'Not authenticated' })(call, response);
    if (call.method === 'POST') {
      asked = 0;
      return json(200, { id: 'task-1', polling_url: 'https://collector.example.com/v1/get_result?id=task-1' })(
        call,
        response,
      );
    }
    asked++;
    const sample = `${hostOf(call)}/files/sample.png`;
    return json(
      200,
      asked > 1 ? { id: 'task-1', status: 'Ready', result: { sample } } : { id: 'task-1', status: 'Pending' },
    )(call, response);
  };
}

export const runwareApi =
  (key: string): Behaviour =>
  (call, response) => {
    if (call.headers.authorization !== `Bearer ${key}`) {
      return json(401, { errors: [{ code: 'invalidApiKey', message: 'Invalid API key.' }] })(call, response);
    }
    const [task] = call.json;
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(task.taskUUID)) {
      return json(400, { errors: [{ code: 'invalidTaskUUID', message: 'Invalid taskUUID.' }] })(call, response);
    }
    const one =
      task.outputType === 'URL' ? { imageURL: 'https://im.runware.ai/1.png' } : { imageBase64Data: pictureBase64 };
    const data = Array.from({ length: task.numberResults }, () => ({
      taskType: task.taskType,
      taskUUID: task.taskUUID,
      ...one,
    }));
    return json(200, { data })(call, response);
  };

export const runwayApi =
  (key: string, outcome: object): Behaviour =>
  (call, response) => {
    const known = call.headers.authorization === `Bearer ${key}` && call.headers['x-runway-version'];
    if (!known) return json(401, { error: 'Unauthorized' })(call, response);
    return json(200, call.method === 'POST' ? { id: 'task-1' } : { id: 'task-1', ...outcome })(call, response);
  };
