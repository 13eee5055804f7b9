/** The stream on which an upstream speaks by itself, for a client of the session era. */

import type { Abortable } from '../../wire/abort.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { leaseFor } from '../call-context.ts';
import { failed } from '../called.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, sessionLost } from '../errors.ts';
import { writeSse } from '../protocol/events.ts';
import { isFields } from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/versions.ts';
import { type LinkEvent, SessionLost } from '../upstream/link.ts';
import { EventStream, type KeepAlive } from './event-stream.ts';
import { passes, tellingInOrder } from './server-requests.ts';
import { type InSession, linkOf } from './session-upstream.ts';

/** An upstream that has no stream says so within this time; one that says nothing has one. */
const refusalMs = 1_000;

interface Listening {
  signal: Abortable;
  lastEventId: string | null;
  opened(): void;
  onEvent(event: LinkEvent): void;
}

/** Resolves when the stream has ended: false where the upstream has none. */
export async function listenTo(deps: McpDeps, session: InSession, listening: Listening): Promise<boolean> {
  const { local, state } = session;
  const tell = tellingInOrder<LinkEvent>(
    (event) => passes(deps, session, event),
    listening.onEvent,
    (fault) => deps.onFault(fault, session.context.requestId),
  );
  const link = await linkOf(deps, session, false);
  return link.listen({
    signal: listening.signal,
    lastEventId: listening.lastEventId,
    filter: {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(local.subscriptions.size > 0 && { resourceSubscriptions: [...local.subscriptions] }),
    },
    opened: listening.opened,
    onEvent: (event) => {
      const shown = state.upstream.era === 'stateless' ? asSessionEvent(event) : event;
      if (shown) tell(shown);
    },
  });
}

export async function listened(
  deps: McpDeps,
  keeper: KeepAlive,
  session: InSession,
  lastEventId: string | undefined,
): Promise<Reply> {
  const abort = new AbortController();
  const stream = new EventStream(keeper, leaseFor(deps, session.context), () => abort.abort(new SessionLost()));
  const opened = Promise.withResolvers<boolean>();
  const listening = listenTo(deps, session, {
    signal: abort.signal,
    lastEventId: lastEventId ?? null,
    opened: () => opened.resolve(true),
    onEvent: ({ event }) => stream.write(writeSse(event)),
  });
  listening.then(
    (had) => {
      opened.resolve(had);
      stream.end();
    },
    (fault) => {
      opened.reject(fault);
      stream.end();
    },
  );
  const silent = setTimeout(() => opened.resolve(true), refusalMs);
  try {
    if (await opened.promise) return stream.reply();
  } catch (fault) {
    stream.end();
    if (fault instanceof SessionLost) throw sessionLost();
    throw failed(fault, (one) => deps.onFault(one, session.context.requestId));
  } finally {
    clearTimeout(silent);
  }
  stream.end();
  throw new McpError('method_not_allowed', 'the upstream has no stream of its own', {
    headers: { allow: 'POST, DELETE' },
  });
}

/** A change that an upstream of the stateless era tells, in the words of the session era; null for what is its own. */
function asSessionEvent({ message, event }: LinkEvent): LinkEvent | null {
  if (message?.kind !== 'notification' || message.method === 'notifications/subscriptions/acknowledged') return null;
  const { _meta, ...params } = message.params;
  const meta = isFields(_meta)
    ? Object.fromEntries(Object.entries(_meta).filter(([name]) => name !== metaKeys.subscriptionId))
    : {};
  const shown = { ...message, params: Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params };
  const data = JSON.stringify({ jsonrpc: '2.0', method: shown.method, params: shown.params });
  return { message: shown, event: { ...event, id: null, data } };
}
