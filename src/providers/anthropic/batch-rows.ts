/** The rows of a batch: chat completions in, messages out, and back. */
import { askedInRow, chatPath, rowsIn } from '../batch-rows.ts';
import type { ChatFamily } from '../chat/family.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { chatFront } from '../fronts/chat/chat.ts';
import { objectOf, textOf } from '../json.ts';
import type { CallFacts, JsonObject } from '../provider.ts';
import { readMessage } from './answer.ts';

const messagesPath = '/v1/messages';

/** The rows that came with the call. */
export function inlineRows(facts: CallFacts, family: ChatFamily): JsonObject[] {
  const rows = new Fields(facts.body).needObjects('requests');
  if (rows.length === 0) throw new RequestFault('requests', 'requests must hold at least one row');
  return rows.map((row) => writeRow(row, facts, family));
}

interface FileRow extends JsonObject {
  custom_id: string;
}

/** The rows of a file, as the client wrote them. */
export const fileRows = (content: string): FileRow[] =>
  rowsIn(content).map(({ customId, url, body }) => ({ custom_id: customId, url, body }));

export const writeFileRow = (row: FileRow, facts: CallFacts, family: ChatFamily): JsonObject =>
  askedInRow(row.custom_id, () => writeRow(new Fields(row), facts, family), 'input_file_id');

/** A row is a chat completion; with `params`, or for the messages route, it is Anthropic's already. */
function writeRow(row: Fields, facts: CallFacts, family: ChatFamily): JsonObject {
  const custom_id = row.needText('custom_id');
  const where = `the row "${custom_id}"`;
  const params = row.raw('params');
  if (params) return { custom_id, params: withPermitted(params, facts, where) };
  const url = row.text('url') ?? chatPath;
  const body = row.needObject('body');
  if (url === messagesPath) return { custom_id, params: withPermitted(body.json, facts, where) };
  if (url !== chatPath)
    throw new RequestFault(row.at('url'), `${row.at('url')} must be ${chatPath} or ${messagesPath}`);
  const model = facts.permittedModel(body.text('model') ?? facts.model, where);
  const rowFacts: CallFacts = { ...facts, kind: 'chatComplete', model, stream: false, body: body.json };
  try {
    return { custom_id, params: family.request(chatFront.read(rowFacts), rowFacts) };
  } catch (fault) {
    if (fault instanceof RequestFault) throw new RequestFault(body.at(fault.field), `${body.path}: ${fault.message}`);
    throw fault;
  }
}

function withPermitted(params: Readonly<JsonObject>, facts: CallFacts, where: string): Readonly<JsonObject> {
  const named = textOf(params.model);
  if (named === null) return params;
  const model = facts.permittedModel(named, where);
  return model === named ? params : { ...params, model };
}

/** The answer to a row, as a chat completion. */
export function answerOf({ result }: JsonObject, facts: CallFacts): JsonObject {
  const { type, message, error } = objectOf(result);
  switch (type) {
    case 'succeeded':
      return chatFront.write(readMessage(message), facts);
    case 'errored': {
      const told = objectOf(objectOf(error).error ?? error);
      const code = textOf(told.type) ?? 'api_error';
      throw new ProviderFault(502, textOf(told.message) ?? 'the request failed', { code });
    }
    case 'canceled':
    case 'expired': {
      const code = `batch_${type === 'canceled' ? 'cancelled' : type}`;
      throw new ProviderFault(502, `the request was ${type} before it was run`, { code });
    }
    default:
      throw new ProviderFault(502, `the row holds no answer: ${JSON.stringify(result ?? null).slice(0, 500)}`);
  }
}
