/** Which operation of A2A a request asks for, in each of its generations and both bindings, and which tasks and conversations it names. */
import { allTextsIn, type Fields, isFields, textIn, textsIn } from './fields.ts';

export type OperationKind =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'push'
  | 'extended card'
  /** Of the agent's own making. */
  | 'other';

export type Generation = '0.2' | '0.3' | '1.0';

export interface Operation {
  kind: OperationKind;
  generation: Generation | null;
  /** As the log names it. */
  method: string;
  /** Tasks that must be the caller's. */
  tasks: readonly string[];
  /** A task whose id the client chooses itself, as 0.2 had it. */
  newTask: string | null;
  /** The conversations that it goes on with, or begins. */
  contexts: readonly string[];
  /** Ids that may be those of tasks: none may be another caller's. */
  mentioned: readonly string[];
  /** Where the agent shall call. */
  pushUrls: readonly string[];
  /** Skills that the metadata of the message name. */
  skills: readonly string[];
}

const methods: Readonly<Record<string, readonly [OperationKind, Generation]>> = {
  'tasks/send': ['send', '0.2'],
  'tasks/sendSubscribe': ['stream', '0.2'],
  'tasks/pushNotification/set': ['push', '0.2'],
  'tasks/pushNotification/get': ['push', '0.2'],
  'message/send': ['send', '0.3'],
  'message/stream': ['stream', '0.3'],
  'tasks/get': ['get', '0.3'],
  'tasks/list': ['list', '0.3'],
  'tasks/cancel': ['cancel', '0.3'],
  'tasks/resubscribe': ['subscribe', '0.3'],
  'tasks/pushNotificationConfig/set': ['push', '0.3'],
  'tasks/pushNotificationConfig/get': ['push', '0.3'],
  'tasks/pushNotificationConfig/list': ['push', '0.3'],
  'tasks/pushNotificationConfig/delete': ['push', '0.3'],
  'agent/getAuthenticatedExtendedCard': ['extended card', '0.3'],
  'agent/authenticatedExtendedCard': ['extended card', '0.3'],
  SendMessage: ['send', '1.0'],
  SendStreamingMessage: ['stream', '1.0'],
  GetTask: ['get', '1.0'],
  ListTasks: ['list', '1.0'],
  CancelTask: ['cancel', '1.0'],
  SubscribeToTask: ['subscribe', '1.0'],
  CreateTaskPushNotificationConfig: ['push', '1.0'],
  SetTaskPushNotificationConfig: ['push', '1.0'],
  GetTaskPushNotificationConfig: ['push', '1.0'],
  ListTaskPushNotificationConfig: ['push', '1.0'],
  ListTaskPushNotificationConfigs: ['push', '1.0'],
  DeleteTaskPushNotificationConfig: ['push', '1.0'],
  GetExtendedAgentCard: ['extended card', '1.0'],
};

const longestName = 128;

export function rpcOperation(method: string, params: Fields): Operation {
  const [kind, generation] = methods[method] ?? (['other', null] as const);
  return { kind, generation, method: method.slice(0, longestName), ...named(kind, generation, params) };
}

/** The last segments of a path of the HTTP+JSON binding; routers of agents mostly do not mind the case. */
const endings: readonly [RegExp, OperationKind][] = [
  [/(?:^|\/)message:send$/i, 'send'],
  [/(?:^|\/)message:stream$/i, 'stream'],
  [/(?:^|\/)tasks\/([^/]+):cancel$/i, 'cancel'],
  [/(?:^|\/)tasks\/([^/]+):subscribe$/i, 'subscribe'],
  [/(?:^|\/)tasks\/([^/]+)\/pushNotificationConfigs(?:\/[^/]+)?$/i, 'push'],
  [/(?:^|\/)tasks\/([^/]+)$/i, 'get'],
  [/(?:^|\/)tasks$/i, 'list'],
  [/(?:^|\/)extendedAgentCard$/i, 'extended card'],
  [/^v1\/card$/i, 'extended card'],
];

export interface HttpOperation extends Operation {
  /** What stands before the operation's own path, such as `v1`. */
  before: string;
}

export function httpOperation(method: string, segments: readonly string[], query: string, body: Fields): HttpOperation {
  const path = segments.join('/');
  for (const [ending, kind] of endings) {
    const found = ending.exec(path);
    if (!found) continue;
    const [, task] = found;
    const before = path.slice(0, found.index);
    const generation: Generation = /^v1(\/|$)/i.test(path) ? '0.3' : '1.0';
    const parameters = new URLSearchParams(query);
    const said = named(kind, generation, body);
    const inQuery = kind === 'list' ? [...parameters.getAll('contextId'), ...parameters.getAll('context_id')] : [];
    return {
      kind,
      generation,
      method: `${method} /${path.slice(before.length).replace(/^\//, '')}`
        .replace(task ?? '\0', '{id}')
        .slice(0, longestName),
      ...said,
      tasks: [...said.tasks, ...textsIn([task]), ...tasksInQuery(parameters)],
      contexts: [...said.contexts, ...inQuery],
      before,
    };
  }
  const said = named('other', null, body);
  return {
    kind: 'other',
    generation: null,
    method: `${method} /${path}`.slice(0, longestName),
    ...said,
    // Whatever an agent has below a task belongs to that task.
    tasks: [...said.tasks, ...tasksInPath(path), ...tasksInQuery(new URLSearchParams(query))],
    before: '',
  };
}

const tasksInPath = (path: string): string[] =>
  [...path.matchAll(/(?:^|\/)tasks\/([^/:]+)/gi)].flatMap(([, task]) => textsIn([task]));

const tasksInQuery = (parameters: URLSearchParams): string[] => [
  ...parameters.getAll('taskId'),
  ...parameters.getAll('task_id'),
];

type Named = Pick<Operation, 'tasks' | 'newTask' | 'contexts' | 'mentioned' | 'pushUrls' | 'skills'>;

function named(kind: OperationKind, generation: Generation | null, params: Fields): Named {
  if (generation === '0.2' && (kind === 'send' || kind === 'stream')) {
    return {
      ...nothing,
      newTask: textIn(params, 'id'),
      contexts: allTextsIn(params, 'sessionId'),
      pushUrls: urlsIn(params.pushNotification),
      skills: skillsIn(params),
    };
  }
  if (kind === 'send' || kind === 'stream') {
    const messages = [params.message, params.request].filter(isFields);
    const configuration = isFields(params.configuration) ? params.configuration : {};
    return {
      ...nothing,
      tasks: messages.flatMap((message) =>
        allTextsIn(message, 'taskId', 'task_id', 'referenceTaskIds', 'reference_task_ids'),
      ),
      contexts: messages.flatMap((message) => allTextsIn(message, 'contextId', 'context_id')),
      pushUrls: pushFields.flatMap((name) => urlsIn(configuration[name])),
      skills: skillsIn(params, ...messages),
    };
  }
  if (kind === 'list') return { ...nothing, contexts: allTextsIn(params, 'contextId', 'context_id') };
  if (kind === 'push') {
    // From 1.0 on `id` is that of the configuration.
    const named = allTextsIn(params, 'taskId', 'task_id');
    const tasks = named.length > 0 || generation === '1.0' ? named : allTextsIn(params, 'id');
    const mentioned = allTextsIn(params, 'id');
    return { ...nothing, tasks: [...tasks, ...inName(params)], mentioned, pushUrls: urlsIn(params) };
  }
  if (kind === 'get' || kind === 'cancel' || kind === 'subscribe') {
    return { ...nothing, tasks: [...allTextsIn(params, 'id', 'taskId', 'task_id'), ...inName(params)] };
  }
  if (kind === 'extended card') return nothing;
  return {
    ...nothing,
    tasks: allTextsIn(params, 'taskId', 'task_id'),
    contexts: allTextsIn(params, 'contextId', 'context_id'),
    mentioned: [...allTextsIn(params, 'id', 'ids', 'taskIds', 'task_ids'), ...inName(params)],
    pushUrls: pushFields.flatMap((name) => urlsIn(params[name])),
  };
}

const nothing: Named = { tasks: [], newTask: null, contexts: [], mentioned: [], pushUrls: [], skills: [] };

/** Where the generations keep the configuration of notifications, in both spellings. */
const pushFields = [
  'pushNotificationConfig',
  'push_notification_config',
  'taskPushNotificationConfig',
  'task_push_notification_config',
  'pushNotification',
  'push_notification',
] as const;

/** Resource names: `tasks/{id}`, or `tasks/{id}/pushNotificationConfigs/{id}`. */
function inName(params: Fields): string[] {
  return allTextsIn(params, 'name', 'parent').flatMap((name) => {
    const found = /(?:^|\/)tasks\/([^/]+)/i.exec(name);
    return found?.[1] ? [found[1]] : [];
  });
}

const deepest = 4;

/** Every `url` in the configuration of notifications, wherever a generation keeps it. */
function urlsIn(value: unknown, depth = 0): string[] {
  if (!isFields(value) || depth > deepest) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'url' && typeof inner === 'string' ? [inner] : name === 'metadata' ? [] : urlsIn(inner, depth + 1),
  );
}

const skillNames = ['skill', 'skillId', 'skill_id', 'skills', 'skillIds'] as const;

function skillsIn(...holders: readonly Fields[]): string[] {
  return holders.flatMap(({ metadata }) =>
    isFields(metadata) ? skillNames.flatMap((name) => textsIn([metadata[name]].flat())) : [],
  );
}
