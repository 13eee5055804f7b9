/** Chat on Replicate: a prediction that is waited for, or whose stream is read. */
import type { ChatFamily } from '../chat/family.ts';
import { EncodedBody } from '../encoded-body.ts';
import { listOf, objectOf, textOf } from '../json.ts';
import { plainAnswer, refuseBeyondText } from '../own/plain-chat.ts';
import type { JsonObject, ProviderEndpoint, Steps } from '../provider.ts';
import { StreamedCall } from '../streamed-call.ts';
import { inputOf } from './input.ts';
import { awaited, predictionBody, started, usageOf } from './prediction.ts';
import { PredictionReader } from './reader.ts';

export const replicateFamily: ChatFamily = {
  request(conversation) {
    refuseBeyondText(conversation, 'Replicate');
    const body = predictionBody(conversation.model, inputOf(conversation));
    return conversation.stream ? { ...body, stream: true } : body;
  },
  response(answer) {
    const prediction = objectOf(answer);
    return plainAnswer(textIn(prediction), { id: textOf(prediction.id), usage: usageOf(prediction) });
  },
  reader: () => new PredictionReader(),
};

const textIn = ({ output }: JsonObject): string =>
  (Array.isArray(output) ? listOf(output) : [output]).map((piece) => textOf(piece) ?? '').join('');

/** The address of a stream is a secret of its own, and not always Replicate's: it gets no credential. */
const steps: Steps = function* ({ model, stream }, body) {
  const begun = yield* started(model, body, stream);
  const address = stream ? textOf(objectOf(begun.urls).stream) : null;
  if (address !== null) {
    return new StreamedCall({ method: 'GET', path: address, headers: { accept: 'text/event-stream' }, bare: true });
  }
  const prediction = yield* awaited(begun);
  return stream ? toldAsEvents(prediction) : prediction;
};

/** Not every model streams: what it said as a whole is told as its stream would have been. */
const toldAsEvents = (prediction: JsonObject): EncodedBody =>
  new EncodedBody(
    'text/event-stream',
    Buffer.from(
      event('output', textIn(prediction)) + event('done', JSON.stringify({ metrics: prediction.metrics ?? {} })),
    ),
  );

const event = (name: string, text: string): string => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${name}\n${lines.join('')}\n`;
};

export const chat: ProviderEndpoint = { chat: replicateFamily, steps };
