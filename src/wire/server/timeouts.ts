/** How long a client may take, in milliseconds, before its connection is closed. */
export const timeoutMs = {
  /** Until its TLS stands. */
  handshake: 60_000,
  /** For a head that was begun. */
  head: 60_000,
  /** Without a request: longer than proxies keep theirs, so that it is they who close. */
  idle: 600_000,
  /** For the rest of a body, after its request was answered. */
  rest: 30_000,
  /** Without taking any of what waits for it: those who never read would fill the memory. */
  stuck: 600_000,
  /** To leave after we have. */
  closing: 5_000,
} as const;
