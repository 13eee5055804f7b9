/** The stream of an endpoint of SageMaker's: frames that hold its bytes, cut anywhere, in which its own lines are found again. */
import { throwException } from '../bedrock/exceptions.ts';
import type { ServerEvent } from '../provider.ts';

/** Gives the events whose last byte came with this frame. */
export class PayloadParts {
  readonly #decoder = new TextDecoder();
  #held = '';

  read({ event, data }: ServerEvent): ServerEvent[] {
    throwException(event, data);
    if (event !== 'PayloadPart') return [];
    this.#held += this.#decoder.decode(Buffer.from(data, 'base64'), { stream: true });
    const end = this.#held.lastIndexOf('\n');
    if (end === -1) return [];
    const whole = this.#held.slice(0, end);
    this.#held = this.#held.slice(end + 1);
    return eventsIn(whole);
  }

  /** A last line may go without its end. */
  rest(): ServerEvent[] {
    const rest = this.#held + this.#decoder.decode();
    this.#held = '';
    return eventsIn(rest);
  }
}

/** Server-sent events of one line each, or lines of JSON. */
const eventsIn = (text: string): ServerEvent[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .flatMap((line) => {
      if (line.startsWith('data:')) return [{ event: null, data: line.slice('data:'.length).trim() }];
      return line.startsWith('{') ? [{ event: null, data: line }] : [];
    });
