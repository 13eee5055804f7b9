/** The last call of an operation in steps, where its answer is a stream: it goes to the client as it comes. */
import type { ProviderCall } from './provider-call.ts';

export class StreamedCall {
  readonly call: ProviderCall;

  constructor(call: ProviderCall) {
    this.call = call;
  }
}
