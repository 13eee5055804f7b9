/** An agent's card as clients of the gateway get it: every address is the gateway's, and nothing of it leads around the gateway. */
import { type AgentCard, bindingIn, interfacesOf } from '../catalog/agents/card.ts';
import { type Fields, isFields, listIn } from './fields.ts';

interface Place {
  /** Where clients of the gateway reach the agent. */
  address: string;
  /** Where the gateway reaches it. */
  upstream: string;
  skillsOff: ReadonlySet<string>;
}

const schemeName = 'gw';
const keyHeader = 'x-gw-api-key';

export function rewrittenCard(card: AgentCard, { address, upstream, skillsOff }: Place): Fields {
  const isModern = Array.isArray(card.supportedInterfaces) && typeof card.url !== 'string';
  const { signatures: _signatures, authentication, security: _security, securityRequirements: _needs, ...rest } = card;
  const rewritten: Record<string, unknown> = {
    ...rest,
    ...(typeof card.url === 'string' && { url: address }),
    ...(Array.isArray(card.supportedInterfaces) && {
      supportedInterfaces: interfaces(card.supportedInterfaces, 'protocolBinding', address),
    }),
    ...(Array.isArray(card.additionalInterfaces) && {
      additionalInterfaces: interfaces(card.additionalInterfaces, 'transport', address),
    }),
    ...preferred(card),
    ...(authentication !== undefined && { authentication: { schemes: ['apiKey'] } }),
    ...(isModern ? modernSecurity : isProto(card) ? protoSecurity : olderSecurity),
    ...(Array.isArray(card.skills) && { skills: shownSkills(card.skills, skillsOff) }),
  };
  const hosts = new Set([hostOf(upstream), ...interfacesOf(card).map(({ url }) => hostOf(url))]);
  hosts.delete(hostOf(address));
  return withoutHosts(
    rewritten,
    [...hosts].filter((host) => host !== ''),
  );
}

const modernSecurity = {
  securitySchemes: { [schemeName]: { apiKeySecurityScheme: { location: 'header', name: keyHeader } } },
  securityRequirements: [{ schemes: { [schemeName]: { list: [] } } }],
};

/** HTTP+JSON of 0.3 writes cards in the form of its protocol buffers. */
const protoSecurity = {
  securitySchemes: modernSecurity.securitySchemes,
  security: modernSecurity.securityRequirements,
};

const isProto = ({ securitySchemes, protocolVersion }: AgentCard): boolean => {
  const [scheme] = isFields(securitySchemes) ? Object.values(securitySchemes) : [];
  return isFields(scheme) && protocolVersion !== undefined && !('type' in scheme);
};

const olderSecurity = {
  securitySchemes: { [schemeName]: { type: 'apiKey', in: 'header', name: keyHeader } },
  security: [{ [schemeName]: [] }],
};

/** Without those that the gateway does not proxy, such as gRPC. */
const interfaces = (list: readonly unknown[], binding: string, address: string): Fields[] =>
  list.flatMap((one) => (isFields(one) && bindingIn(one[binding]) ? [{ ...one, url: address }] : []));

function preferred({ preferredTransport, additionalInterfaces }: AgentCard): Fields {
  if (preferredTransport === undefined || bindingIn(preferredTransport)) return {};
  const usable = listIn(additionalInterfaces).find((one) => isFields(one) && bindingIn(one.transport));
  return { preferredTransport: isFields(usable) ? usable.transport : 'JSONRPC' };
}

const shownSkills = (skills: readonly unknown[], off: ReadonlySet<string>): Fields[] =>
  skills.flatMap((skill) => {
    if (!isFields(skill) || off.has(String(skill.id))) return [];
    const { security: _security, securityRequirements: _needs, ...shown } = skill;
    return [shown];
  });

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

/** Leaves out every value that names one of these hosts. */
function withoutHosts(fields: Fields, hosts: readonly string[]): Fields {
  const names = (text: string) => hosts.some((host) => text.includes(host));
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return names(value) ? undefined : value;
    if (Array.isArray(value)) return value.map(clean).filter((item) => item !== undefined);
    if (!isFields(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        const kept = clean(inner);
        return kept === undefined ? [] : [[name, kept]];
      }),
    );
  };
  const kept = clean(fields);
  return isFields(kept) ? kept : {};
}
