/** SageMaker: endpoints of the customer's own, whose containers speak OpenAI's dialect or that of Text Generation Inference. */
import { awsAddress, awsAuthentication, awsFields, awsHeaders } from './aws/access.ts';
import { PayloadParts } from './aws/payload-parts.ts';
import type { ChatFamily } from './chat/family.ts';
import { isVector, readEmbeddings, textsOf, type Vector, writeEmbeddings } from './embeddings.ts';
import { EncodedBody } from './encoded-body.ts';
import { ProviderFault } from './faults.ts';
import { listOf, objectOf, present } from './json.ts';
import { openAiFamily } from './openai/family.ts';
import type { CallFacts, Provider, ProviderEndpoint, Translation } from './provider.ts';
import { generated } from './sagemaker-generation.ts';
import { setting } from './settings.ts';
import { objectIn } from './stepping.ts';

/** The endpoint's name stands where other providers have a model. */
const path = ({ model, stream }: CallFacts): string =>
  `/endpoints/${encodeURIComponent(model)}/${stream ? 'invocations-response-stream' : 'invocations'}`;

/** The container knows its model by another name than the endpoint's. */
const containerModel = (facts: CallFacts): string =>
  setting(facts.fields, 'amzn_sagemaker_model_name', 'sagemaker_model_name') ?? facts.model;

/** For clients of the container's own dialect: only the frames around a stream are taken away. */
const relayed: Translation = {
  request: (facts) => ({ ...facts.body, model: containerModel(facts) }),
  takes: 'bytes',
  response: (_, __, raw) => {
    objectIn(raw);
    return new EncodedBody('application/json', Buffer.from(raw.bytes));
  },
  stream: () => {
    const parts = new PayloadParts();
    return { event: (event) => parts.read(event), end: () => parts.rest() };
  },
};

const family: ChatFamily = {
  ...openAiFamily,
  request: (conversation, facts) => openAiFamily.request({ ...conversation, model: containerModel(facts) }, facts),
  reader: (facts) => {
    const parts = new PayloadParts();
    const reader = openAiFamily.reader(facts);
    return {
      read: (event) => parts.read(event).flatMap((own) => reader.read(own)),
      end: () => [...parts.rest().flatMap((own) => reader.read(own)), ...reader.end()],
    };
  },
};

const chat: ProviderEndpoint = { path, translation: relayed, chat: family, framing: 'aws' };

/** Containers answer with bare lists, or name them. */
const embeddings: Translation = {
  request: (facts) => {
    const asked = readEmbeddings(facts);
    return present({ inputs: textsOf(asked), dimensions: asked.dimensions, ...asked.extras });
  },
  response: (answer, facts) => {
    const { embedding, embeddings: named, vectors } = objectOf(answer);
    const found = listOf(Array.isArray(answer) ? answer : (embedding ?? named ?? vectors));
    return writeEmbeddings(facts, vectorsIn(found), readEmbeddings(facts).encoding, null);
  },
};

function vectorsIn(found: readonly unknown[]): readonly Vector[] {
  if (found.length > 0 && found.every(isVector)) return found;
  if (isVector(found)) return [found];
  throw new ProviderFault(502, 'the answer of the endpoint holds no embeddings');
}

const options = {
  custom_attributes: 'Whatever the container is to be told with each call.',
  target_model: 'The model of an endpoint with several.',
  target_variant: 'The production variant that answers.',
  target_container_hostname: 'The container of an endpoint with several.',
  inference_id: 'An id for the call, kept with captured data.',
  enable_explanations: 'Which explanations the call wants.',
  inference_component: 'The inference component that answers.',
  session_id: 'The session that the call belongs to.',
} as const;

const optionHeaders = ({ fields }: CallFacts): Record<string, string> =>
  Object.fromEntries(
    Object.keys(options).flatMap((name) => {
      const value = setting(fields, `amzn_sagemaker_${name}`, `sagemaker_${name}`);
      return value === null ? [] : [[`x-amzn-sagemaker-${name.replaceAll('_', '-')}`, value]];
    }),
  );

export const sagemaker: Provider = {
  id: 'sagemaker',
  name: 'AWS SageMaker',
  aliases: ['aws-sagemaker'],
  address: (facts) => awsAddress('runtime.sagemaker', facts),
  headers: (facts) => ({
    ...(facts.stream && { 'accept-encoding': 'identity' }),
    ...optionHeaders(facts),
    ...awsHeaders(facts),
  }),
  authentication: (facts) => awsAuthentication(facts, 'sagemaker'),
  modelCalls: { POST: /\/endpoints\/[^/]+\/invocations(?:-response-stream)?$/i },
  needsCredential: false,
  fields: [
    ...awsFields,
    ...Object.entries(options).map(([name, about]) => ({ name: `amzn_sagemaker_${name}`, about })),
    { name: 'amzn_sagemaker_model_name', about: 'The name under which the container knows its model.' },
  ],
  endpoints: {
    chatComplete: chat,
    complete: { path, translation: generated, framing: 'aws' },
    embed: { path, translation: embeddings },
  },
  notes: [
    'The model is the name of your endpoint. Chat needs a container that speaks OpenAI’s dialect; completions go to Text Generation Inference and its like.',
    'Any other body can be sent to /v1/proxy/endpoints/{name}/invocations: it is signed and passed through.',
  ],
};
