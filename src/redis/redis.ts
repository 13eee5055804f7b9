/** What limits and the cache know of Redis. */
export interface Redis {
  /** Sends one command; `key` says which part of a cluster it goes to. Fails at once while there is no connection. */
  command(key: string, args: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}
