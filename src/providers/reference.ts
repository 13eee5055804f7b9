/** What there is to know of a provider before it is called: for the reference routes and the documentation. */
import type { EndpointKind } from './endpoints.ts';
import { RequestFault } from './faults.ts';
import type { CallFacts, Provider, ProviderField } from './provider.ts';

export interface ProviderReference {
  id: string;
  name: string;
  aliases: readonly string[];
  /** With the names of settings in braces where the address holds them; null where only the target knows it. */
  address: string | null;
  /** The header that a plain credential travels in; null where there is none, or more is needed than a header. */
  credential: { header: string; value: string } | null;
  needsCredential: boolean;
  fields: readonly ProviderField[];
  endpoints: readonly EndpointKind[];
  notes: readonly string[];
}

export function referenceOf(provider: Provider): ProviderReference {
  const facts = sampleFacts(provider);
  return {
    id: provider.id,
    name: provider.name,
    aliases: provider.aliases ?? [],
    address: addressOf(provider, facts),
    credential: credentialOf(provider, facts),
    needsCredential: provider.needsCredential,
    fields: provider.fields ?? [],
    endpoints: kindsOf(provider),
    notes: provider.notes ?? [],
  };
}

const kindsOf = ({ endpoints }: Provider): EndpointKind[] => {
  const kinds: EndpointKind[] = [];
  for (const kind in endpoints) if (isKindOf(endpoints, kind)) kinds.push(kind);
  return kinds;
};

const isKindOf = (endpoints: Provider['endpoints'], kind: string): kind is EndpointKind => kind in endpoints;

const credentialMark = 'PROVIDER_KEY';

/** Settings stand for themselves: a name with hyphens can be a part of a host. */
const markOf = (field: string): string => field.replaceAll('_', '-');

const sampleFacts = ({ id, fields = [] }: Provider): CallFacts => ({
  provider: id,
  kind: 'chatComplete',
  model: 'MODEL',
  stream: false,
  credential: credentialMark,
  fields: Object.fromEntries(fields.filter(({ required }) => required).map(({ name }) => [name, markOf(name)])),
  customHost: null,
  pathParams: {},
  query: '',
  body: {},
  files: new Map(),
  media: new Map(),
  strict: true,
  now: () => 0,
  newId: (prefix) => prefix,
  metadata: {},
  labelPrefix: '',
  permittedModel: (named) => named,
  storage: () => null,
  clientHeader: () => null,
});

function addressOf({ address, fields = [] }: Provider, facts: CallFacts): string | null {
  const known = typeof address === 'function' ? unlessRefused(() => address(facts)) : address;
  return fields.reduce((told: string | null, { name }) => told?.replace(markOf(name), `{${name}}`) ?? null, known);
}

function credentialOf({ headers }: Provider, facts: CallFacts): ProviderReference['credential'] {
  const sent = unlessRefused(() => headers(facts)) ?? {};
  const found = Object.entries(sent).find(([, value]) => value.includes(credentialMark));
  return found ? { header: found[0], value: found[1] } : null;
}

/** A provider may need settings that depend on each other: then there is no single answer to show. */
function unlessRefused<T>(ask: () => T): T | null {
  try {
    return ask();
  } catch (fault) {
    if (fault instanceof RequestFault) return null;
    throw fault;
  }
}
