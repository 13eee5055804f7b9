/** Opens the runtime's own WebSocket to a server. It can send headers and pause; its type is hidden by the browser's, which can do neither. */

export const openClientSocket = (url: string, options: Bun.WebSocketOptions): Bun.WebSocket =>
  Reflect.construct(WebSocket, [url, options]);
