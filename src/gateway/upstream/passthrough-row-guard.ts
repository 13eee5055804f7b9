/** Rows of a batch that pass through in the provider's own dialect: they name only models that the caller may use. */
import { objectOf, objectsOf, textOf } from '../../providers/json.ts';
import { permittedModel, type Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import { hasRepeatedFields } from '../request/json-fields.ts';
import { endsIn } from './upstream-address.ts';

export function requirePassedRows(context: RequestContext, target: Target, url: string): void {
  const { body, request } = context;
  if (body.form !== 'json' || request.method !== 'POST') return;
  if (!endsIn(url, '/messages/batches')) return;
  // Parsers differ in which of two they believe.
  if (hasRepeatedFields(new TextDecoder().decode(body.bytes), body.json)) {
    throw new GatewayError('invalid_body', 'the body has a field twice');
  }
  for (const [index, row] of objectsOf(body.json.requests).entries()) {
    const id = textOf(row.custom_id);
    const model = textOf(objectOf(row.params).model) ?? '';
    permittedModel(context, target, model, id === null ? `requests[${index}]` : `the row "${id}"`);
  }
}
