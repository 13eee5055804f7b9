/** A simulated guardrail partner: what a test needs to know of it, and its answers. */
import type { z } from 'zod';
import type { HookEvent } from '../../src/guardrails/context.ts';
import type { CheckIo, OutboundCall } from '../../src/guardrails/io.ts';

export type Json = Record<string, unknown>;

export interface Partner {
  parameters?: Json;
  credentials?: Json;
  event?: HookEvent;
  /** Where it is called. */
  url: string;
  /** The header that carries the key, and its value. */
  key?: [string, string];
  /** Fields that it refuses to do without. */
  needs: string[];
  /** The body as its public description has it: anything else is refused. */
  refuses?: z.ZodType;
  passes: Json;
  fails: Json;
  /** Its answer with something to replace, and the text that comes of it. */
  redacts?: [Json, string];
}

export const key = 'key-123';
export const after = 'afterRequestHook' as const;

/** Answers as the partner would; what it would refuse is refused. */
export const simulated = (partner: Partner, answer: Json): CheckIo & { calls: OutboundCall[] } => {
  const calls: OutboundCall[] = [];
  const reply = (status: number, json: Json) => ({
    status,
    header: () => null,
    bytes: new TextEncoder().encode(JSON.stringify(json)),
  });
  return {
    calls,
    async call(call) {
      calls.push(call);
      if (call.url !== partner.url) return reply(404, { called: call.url });
      if (call.method !== 'POST') return reply(405, {});
      if (!/^application\/json\b/.test(call.headers['content-type'] ?? '')) return reply(415, {});
      const [name = '', value = ''] = partner.key ?? [];
      const sent = Object.entries(call.headers).find(([header]) => header.toLowerCase() === name.toLowerCase())?.[1];
      if (partner.key ? sent !== value : !call.sign && partner.credentials) return reply(401, {});
      const body = JSON.parse(call.body ?? 'null');
      if (partner.needs.some((field) => body[field] === undefined)) return reply(422, { body });
      if (partner.refuses && !partner.refuses.safeParse(body).success) return reply(400, { body });
      return reply(200, answer);
    },
    resolves: async () => true,
    moderate: async () => ({ categories: {}, json: {} }),
    cache: { get: () => undefined, put: () => undefined },
    now: () => 1_760_000_000_000,
    newId: () => 'id-1',
  };
};
