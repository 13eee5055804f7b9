/** The rows of a batch: OpenAI's in, those of the model's own dialect out, and back. */
import { readMessage } from '../anthropic/answer.ts';
import { anthropicFamily } from '../anthropic/family.ts';
import { askedInRow, type BatchRow, chatPath, embeddingsPath, rowsIn, writtenRows } from '../batch-rows.ts';
import { isVector, readEmbeddings, textsOf, writeEmbeddings } from '../embeddings.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { isObject, numberOf, objectOf, textOf, wordOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { setting } from '../settings.ts';
import { readConverse } from './answer.ts';
import { claudeOnBedrock } from './claude.ts';
import { converse } from './converse.ts';
import { embedderOf } from './embeddings.ts';
import { modelId } from './model.ts';

const claude = anthropicFamily(claudeOnBedrock);

/** A file of OpenAI's rows as Bedrock wants it. */
export const batchRows = (content: string, facts: CallFacts): Uint8Array<ArrayBuffer> =>
  writtenRows(rowsIn(content).map((row) => ({ recordId: row.customId, modelInput: inputOf(row, facts) })));

/** The model of the whole batch counts for more than what a row names. */
function inputOf({ body, url, customId }: BatchRow, facts: CallFacts): JsonObject {
  const named = setting(facts.fields, 'aws_bedrock_model', 'provider_model') ?? textOf(body.model) ?? facts.model;
  const model = facts.permittedModel(named, `the row "${customId}"`);
  const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', model, stream: false, body };
  return askedInRow(customId, () => {
    if (url === embeddingsPath) return embeddingInput(rowFacts);
    if (url !== chatPath) throw new RequestFault('url', `${url} has no batches here`);
    return chatInput(rowFacts);
  });
}

/** Models whose own dialect is OpenAI's. */
const openAiModels = /^(?:openai|qwen|deepseek|minimax|moonshot(?:ai)?|nvidia|zai|google)\./;

function chatInput(facts: CallFacts): JsonObject {
  const id = modelId(facts);
  if (id.startsWith('anthropic.')) return objectOf(claude.request(chatFront.read(facts), facts));
  if (id.startsWith('amazon.nova')) return novaInput(facts);
  if (openAiModels.test(id)) {
    const { model: _, ...rest } = facts.body;
    return rest;
  }
  throw new RequestFault('model', `how batches for the model ${facts.model} are written is not known`);
}

/** Nova's own dialect is Converse, with what is elsewhere an extra in its own place. */
function novaInput(facts: CallFacts): JsonObject {
  const { additionalModelRequestFields: more, ...request } = objectOf(converse.request(chatFront.read(facts), facts));
  const { inferenceConfig, ...others } = objectOf(more);
  return {
    schemaVersion: 'messages-v1',
    ...request,
    ...others,
    ...((request.inferenceConfig !== undefined || inferenceConfig !== undefined) && {
      inferenceConfig: { ...objectOf(request.inferenceConfig), ...objectOf(inferenceConfig) },
    }),
  };
}

function embeddingInput(facts: CallFacts): JsonObject {
  const request = readEmbeddings(facts);
  const inputs = textsOf(request).map((text) => ({ text, image: null }));
  const embedder = embedderOf(facts);
  if (inputs.length > embedder.most) {
    throw new RequestFault('input', `input may hold ${embedder.most} for a row of this model's batches`);
  }
  return embedder.body(inputs, request);
}

/** The answer to a row, in OpenAI's form. */
export function answerOf({ modelOutput, error }: JsonObject, facts: CallFacts): JsonObject {
  if (isObject(modelOutput)) return readOutput(modelOutput, facts);
  const { errorCode, errorMessage } = objectOf(error);
  const said = textOf(errorMessage) ?? 'the row was not answered';
  throw new ProviderFault(502, said, { code: wordOf(errorCode ?? 'failed') });
}

const noHeaders = { headers: new Headers() };

/** By the form of the answer: rows do not tell what they asked for. */
function readOutput(output: JsonObject, facts: CallFacts): JsonObject {
  if (output.type === 'message') return chatFront.write(readMessage(output), facts);
  if (isObject(output.output)) return chatFront.write(readConverse(output, noHeaders), facts);
  if (isVector(output.embedding)) {
    return writeEmbeddings(facts, [output.embedding], 'float', numberOf(output.inputTextTokenCount));
  }
  return output;
}
