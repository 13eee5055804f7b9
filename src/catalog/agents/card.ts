/** What the gateway reads of an agent's card, in every generation of the protocol. The rest of a card is handed on as it came. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';

export type AgentCard = Readonly<Record<string, unknown>>;
export type AgentSkill = Readonly<Record<string, unknown>>;

/** Bytes of the largest card. */
export const largestCard = 1024 * 1024;

/** The ways of speaking to an agent that the gateway proxies. */
export type Binding = 'JSONRPC' | 'HTTP+JSON';

export interface AgentInterface {
  binding: Binding;
  url: string;
  /** `0.3` or `1.0`, as far as the card tells. */
  version: string | null;
}

const address = () =>
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\//i);

const readable = lazy(() =>
  z.looseObject({
    name: z.string().min(1).max(1024),
    url: address().optional().catch(undefined),
    protocolVersion: z.string().max(32).optional().catch(undefined),
    preferredTransport: z.string().max(64).optional().catch(undefined),
    supportedInterfaces: z
      .array(
        z.looseObject({
          url: z.string().max(2048).optional().catch(undefined),
          protocolBinding: z.string().max(64).optional().catch(undefined),
          protocolVersion: z.string().max(32).optional().catch(undefined),
        }),
      )
      .optional()
      .catch(undefined),
    additionalInterfaces: z
      .array(
        z.looseObject({
          url: z.string().max(2048).optional().catch(undefined),
          transport: z.string().max(64).optional().catch(undefined),
        }),
      )
      .optional()
      .catch(undefined),
    skills: z.array(z.looseObject({ id: z.string().min(1).max(255) })).optional(),
  }),
);

export type CardReading = { card: AgentCard } | { fault: string };

/** The card in a parsed value, as it came. */
export function readCard(value: unknown): CardReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'is no JSON object' };
  const parsed = readable().safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { fault: `has no usable ${issue?.path.join('.') || 'form'}` };
  }
  const card: AgentCard = { ...value };
  if (parsed.data.url !== undefined || interfacesOf(card).length > 0) return { card };
  return { fault: 'has neither a url nor an interface for JSON-RPC or HTTP+JSON' };
}

/** The card with a `url`: cards of A2A 1.0 have none but those of their interfaces. */
export function withUrl(card: AgentCard): AgentCard {
  return typeof card.url === 'string' ? card : { ...card, url: interfacesOf(card)[0]?.url };
}

const bindings: Readonly<Record<string, Binding>> = { JSONRPC: 'JSONRPC', 'HTTP+JSON': 'HTTP+JSON' };

export const bindingIn = (name: unknown): Binding | null =>
  typeof name === 'string' ? (bindings[name.toUpperCase()] ?? null) : null;

/** Where the agent can be spoken to, in its own order; ways that the gateway does not proxy are left out. */
export function interfacesOf(card: AgentCard): AgentInterface[] {
  const parsed = readable().safeParse(card);
  if (!parsed.success) return [];
  const { url, protocolVersion, preferredTransport, supportedInterfaces, additionalInterfaces } = parsed.data;
  const found: AgentInterface[] = [];
  const add = (binding: Binding | null, at: string | undefined, version: string | undefined) => {
    if (binding === null || at === undefined || !address().safeParse(at).success) return;
    const known = found.some((one) => one.binding === binding && one.url === at && one.version === (version ?? null));
    if (!known) found.push({ binding, url: at, version: version ?? null });
  };
  for (const one of supportedInterfaces ?? []) add(bindingIn(one.protocolBinding), one.url, one.protocolVersion);
  add(preferredTransport === undefined ? 'JSONRPC' : bindingIn(preferredTransport), url, protocolVersion);
  for (const one of additionalInterfaces ?? []) add(bindingIn(one.transport), one.url, protocolVersion);
  return found;
}

/** The card's skills by their ids. */
export function skillsOf(card: AgentCard): Map<string, AgentSkill> {
  const parsed = readable().safeParse(card);
  return new Map((parsed.success ? (parsed.data.skills ?? []) : []).map((skill) => [skill.id, skill]));
}
