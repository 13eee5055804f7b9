/** An error that is an answer, not a fault of the program: it has no trace. To work out the first trace the runtime reads the whole source map, and everybody waits for it. */
export class UntracedError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
