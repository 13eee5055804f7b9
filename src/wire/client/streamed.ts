/** Bytes of a reader as the web's own stream, for those who take nothing else. */
import type { ByteReader } from './answer.ts';
import type { Bytes } from './collected.ts';

/** What is read from it is read from the body, and not before. */
export const streamOf = (body: ByteReader): ReadableStream<Bytes> =>
  new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await body.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
