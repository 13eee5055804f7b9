/** Exceptions that AWS reports inside a stream, with the status that each has as an answer. */
import { ProviderFault } from '../faults.ts';
import { objectOf, parsed, textOf } from '../json.ts';

const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    accessdeniedexception: 403,
    conflictexception: 400,
    internalfailure: 500,
    internalserverexception: 500,
    internalserviceexception: 500,
    internalstreamfailure: 500,
    modelerror: 424,
    modelerrorexception: 424,
    modelnotreadyexception: 429,
    modelstreamerror: 424,
    modelstreamerrorexception: 424,
    modeltimeoutexception: 408,
    resourcenotfoundexception: 404,
    servicequotaexceededexception: 400,
    serviceunavailable: 503,
    serviceunavailableexception: 503,
    throttlingexception: 429,
    validationexception: 400,
  }),
);

/** Does nothing for a frame that is no exception. */
export function throwException(event: string | null, data: string): void {
  const name = event?.startsWith('exception:') ? event.slice('exception:'.length) : null;
  if (name === null) return;
  const body = objectOf(parsed(data));
  const message = textOf(body.message) ?? textOf(body.Message) ?? textOf(body.originalMessage) ?? name;
  throw new ProviderFault(statuses.get(name.toLowerCase()) ?? 500, message, { type: name });
}
