/** What a frame is, as its first byte says. */
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Control frames come between the fragments of a message, are never cut themselves, and hold little. */
export const isControl = (code: number): boolean => code >= opcode.close;

export const longestControl = 125;
