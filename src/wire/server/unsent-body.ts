/** A body in one piece that tells when it has left, or when nobody takes it any more: until then it stays in memory. */
import type { Bytes } from '../client/collected.ts';
import type { BodySource, Reply, Sink } from './reply.ts';

class UnsentBody implements BodySource {
  #bytes: Bytes | null;
  #over: (() => void) | null;

  constructor(bytes: Bytes, over: () => void) {
    this.#bytes = bytes;
    this.#over = over;
  }

  deliver(to: Sink): void {
    const bytes = this.#bytes;
    this.#bytes = null;
    const room = bytes ? to.write(bytes) : undefined;
    const sent = () => {
      this.left();
      to.end();
    };
    if (room) void room.then(sent);
    else sent();
  }

  left(): void {
    this.#bytes = null;
    const over = this.#over;
    this.#over = null;
    over?.();
  }
}

/** The same reply; `over` is told once its body has left. */
export const toldWhenSent = (reply: Reply & { body: Bytes }, over: () => void): Reply => ({
  ...reply,
  headers: { ...reply.headers, 'content-length': String(reply.body.length) },
  body: new UnsentBody(reply.body, over),
});
