/** Vertex AI as it behaves: tokens, addresses by project and publisher, Gemini and Anthropic each in its own dialect. */
import type { Json } from '../harness.ts';
import { eventsOf, messageOf, type Scripted as ScriptedMessage } from './anthropic-api.ts';
import { refusalOf } from './anthropic-rules.ts';
import { fault, generates, type Scripted } from './gemini.ts';
import { type Behaviour, json, stream } from './simulated.ts';

export const project = 'proj-1';
export const region = 'us-central1';
export const place = `projects/${project}/locations/${region}`;
export const settings = { vertex_auth_type: 'basic', vertex_project_id: project, vertex_region: region };

/** Callers with a token that is known, or with a key. */
export const known =
  (behaviour: Behaviour, isKnown: (token: string) => boolean = () => true): Behaviour =>
  (call, response) => {
    const token = call.headers.authorization?.replace(/^Bearer /, '');
    const isCaller = token === undefined ? call.headers['x-goog-api-key'] : isKnown(token);
    const words = 'Request had invalid authentication credentials.';
    return (isCaller ? behaviour : fault(401, 'UNAUTHENTICATED', words))(call, response);
  };

const notFound = (path: string): Behaviour => fault(404, 'NOT_FOUND', `The requested URL ${path} was not found.`);

/** A publisher's model in the project, by the methods that it has. */
const published =
  (publisher: string, methods: RegExp, behaviour: Behaviour): Behaviour =>
  (call, response) => {
    const prefix = `/v1/${place}/publishers/${publisher}/models/`;
    const isOurs = call.path.startsWith(prefix) || call.path.startsWith(prefix.replace('/v1/', '/v1beta1/'));
    const method = call.path.split(':').at(-1) ?? '';
    return (isOurs && methods.test(method) ? behaviour : notFound(call.path))(call, response);
  };

/** What AI Studio alone knows. */
const studioOnly = (body: Json): boolean =>
  body.serviceTier !== undefined || body.toolConfig?.includeServerSideToolInvocations !== undefined;

export const answers = (scripted: Scripted, isKnown?: (token: string) => boolean): Behaviour =>
  known(
    published('google', /^(streamG|g)enerateContent/, (call, response) =>
      (studioOnly(call.json)
        ? fault(400, 'INVALID_ARGUMENT', 'Unknown name: Cannot find field.')
        : generates(scripted))(call, response),
    ),
    isKnown,
  );

export const says = (text: string, isKnown?: (token: string) => boolean): Behaviour =>
  answers({ candidates: [{ parts: [{ text }] }] }, isKnown);

const vertexRemark = 'event: vertex_event\ndata: {"traffic_type":"ON_DEMAND"}\n\n';

/** A message of Anthropic's: the address names the model, the body the version. */
export const claudeAnswers = (scripted: ScriptedMessage): Behaviour =>
  known(
    published('anthropic', /^(streamR|r)awPredict/, (call, response) => {
      const [, model = ''] = /models\/([^:]+):/.exec(decodeURIComponent(call.path)) ?? [];
      const { anthropic_version: version, ...body } = call.json;
      const isCount = model === 'count-tokens';
      if (version !== 'vertex-2023-10-16') return invalid('anthropic_version: Field required')(call, response);
      if (isCount)
        return (body.model ? json(200, { input_tokens: 11 }) : invalid('model: Field required'))(call, response);
      if ('model' in body) return invalid('model: Extra inputs are not permitted')(call, response);
      if (body.output_config?.format)
        return invalid('output_config.format: Extra inputs are not permitted')(call, response);
      const refusal = refusalOf({ ...call, json: { ...body, model } });
      if (refusal) return invalid(refusal)(call, response);
      const message = messageOf(model, scripted);
      return body.stream
        ? stream([...eventsOf(message), vertexRemark])(call, response)
        : json(200, message)(call, response);
    }),
  );

const invalid = (message: string): Behaviour =>
  json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
