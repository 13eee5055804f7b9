/** The revisions of the protocol: those that open a session first, and those in which every request speaks for itself. */

/** Oldest first. */
export const sessionVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;
export const newestSessionVersion = '2025-11-25';
export const statelessVersion = '2026-07-28';

/** What a request without the header speaks. */
export const assumedVersion = '2025-03-26';

export const isSessionVersion = (version: string): boolean => (sessionVersions as readonly string[]).includes(version);

/** Revisions are dates, so that they are ordered as texts. */
export const isStatelessVersion = (version: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(version) && version >= statelessVersion;

export type Era = 'session' | 'stateless';

const prefix = 'io.modelcontextprotocol/';
export const metaKeys = {
  protocolVersion: `${prefix}protocolVersion`,
  clientInfo: `${prefix}clientInfo`,
  clientCapabilities: `${prefix}clientCapabilities`,
  logLevel: `${prefix}logLevel`,
  subscriptionId: `${prefix}subscriptionId`,
  serverInfo: `${prefix}serverInfo`,
} as const;

/** Where the name of what is asked for stands, by method. */
export const nameField: Readonly<Record<string, 'name' | 'uri' | 'taskId'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Methods that list one kind of capability, and under which field of the result. */
export const listMethods = {
  'tools/list': { type: 'tool', field: 'tools', capability: 'tools' },
  'prompts/list': { type: 'prompt', field: 'prompts', capability: 'prompts' },
  'resources/list': { type: 'resource', field: 'resources', capability: 'resources' },
  'resources/templates/list': { type: 'resource_template', field: 'resourceTemplates', capability: 'resources' },
} as const;
export type ListMethod = keyof typeof listMethods;

export const isListMethod = (method: string): method is ListMethod => Object.hasOwn(listMethods, method);

/** What a client may ask in the session era, with the capability of the server that it takes. */
export const sessionMethods: Readonly<Record<string, string | null>> = {
  initialize: null,
  ping: null,
  'tools/list': 'tools',
  'tools/call': 'tools',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'completion/complete': 'completions',
  'logging/setLevel': 'logging',
  'tasks/get': 'tasks',
  'tasks/result': 'tasks',
  'tasks/list': 'tasks',
  'tasks/cancel': 'tasks',
};

/** What a client may ask in the stateless era. */
export const statelessMethods: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** Only these change nothing: they may be asked again when a connection fails. */
export const readMethods: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'server/discover',
  'tasks/get',
  'tasks/list',
  'ping',
]);

/** What a server may ask of a client, with the capability of the client that it takes. */
export const clientMethods: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};
