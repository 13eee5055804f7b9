/** What tests of the wire have in common: wires and servers that end with their test, and no rejection that nobody hears. */
import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import { HttpClient } from '../../src/wire/client/http-client.ts';
import { type RawServer, startRaw } from './raw-server.ts';

interface WireWorld {
  newWire(): HttpClient;
  serve(...args: Parameters<typeof startRaw>): Promise<RawServer>;
}

/** To be called where a test file begins. */
export function wireWorld(now?: () => number): WireWorld {
  const wires: HttpClient[] = [];
  const servers: RawServer[] = [];
  const unheard: unknown[] = [];
  const note = (fault: unknown) => unheard.push(fault);
  beforeAll(() => {
    process.on('unhandledRejection', note);
  });
  afterEach(() => {
    for (const wire of wires.splice(0)) wire.close();
    for (const server of servers.splice(0)) server.stop();
    expect(unheard.splice(0)).toEqual([]);
  });
  afterAll(() => {
    process.off('unhandledRejection', note);
  });
  return {
    newWire() {
      const wire = new HttpClient({}, now && { now });
      wires.push(wire);
      return wire;
    },
    async serve(...args) {
      const server = await startRaw(...args);
      servers.push(server);
      return server;
    },
  };
}
