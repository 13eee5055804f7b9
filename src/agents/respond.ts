/** An agent's answer on its way back: owners are noted, cards rewritten, lists filtered and guardrails asked before anything of it leaves. */
import { readJson } from '../bounded-json.ts';
import { readCard } from '../catalog/agents/card.ts';
import { countedFrom } from '../gateway/request/body-budget.ts';
import { arrivalHeaders } from '../gateway/response/reply.ts';
import { pipeBody } from '../gateway/streaming/pipe-body.ts';
import { EventReader, writeSse } from '../mcp/protocol/events.ts';
import { explained } from '../mcp/upstream/http.ts';
import { isOk, type WireAnswer } from '../wire/client/answer.ts';
import { type Bytes, collected } from '../wire/client/collected.ts';
import { WireFault } from '../wire/fault.ts';
import type { Reply } from '../wire/server/reply.ts';
import { toldWhenSent } from '../wire/server/unsent-body.ts';
import type { AgentCall } from './call.ts';
import { AgentError } from './errors.ts';
import { eventPipe, idleStreamMs, largestEvent } from './event-pipe.ts';
import { type Fields, isFields, textIn } from './fields.ts';
import { rewrittenCard } from './rewritten-card.ts';
import { sightingsIn, taskIn, withoutTotals } from './sightings.ts';

const largestAnswer = 10 * 1024 * 1024;
const longestFailure = 1_024;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Headers of an agent that mean the same behind a gateway; any other might name its host. */
const handedOn = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-language',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'retry-after',
] as const;

export function answerHeaders({ identified }: AgentCall, { headers }: WireAnswer): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of handedOn) {
    const value = headers.get(name);
    if (value !== null) shown[name] = value;
  }
  return { ...shown, ...arrivalHeaders(identified) };
}

const mediaType = ({ headers }: WireAnswer): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isStream = (answer: WireAnswer): boolean => mediaType(answer) === 'text/event-stream';

export const isJson = (answer: WireAnswer): boolean => /^application\/([\w.+-]+\+)?json$/.test(mediaType(answer));

/** The whole of an answer; one that is too large or breaks off is the agent's fault. */
export async function wholeOf(call: AgentCall, { body }: WireAnswer): Promise<Bytes> {
  try {
    return body ? await collected(body, largestAnswer) : new Uint8Array();
  } catch (fault) {
    if (call.abort.reason instanceof AgentError) throw call.abort.reason;
    if (fault instanceof WireFault && fault.code === 'BodyTooLarge') {
      throw new AgentError('upstream_error', `the agent answered with more than ${largestAnswer} bytes`);
    }
    throw explained(fault, call.abort);
  }
}

const jsonIn = (bytes: Bytes): unknown => {
  try {
    return readJson(decoder.decode(bytes));
  } catch {
    return undefined;
  }
};

/** An answer in one piece. `again` asks for the next page of a list. */
export async function wholeReply(
  call: AgentCall,
  answer: WireAnswer,
  origin: string,
  again: (pageToken: string) => Promise<WireAnswer>,
): Promise<Reply> {
  const isRpc = call.posted.id !== undefined;
  let bytes = await wholeOf(call, answer);
  const value = jsonIn(bytes);
  if (isRpc && !isFields(value)) {
    throw new AgentError('upstream_error', `the agent answered with status ${answer.status} and no JSON-RPC`);
  }
  let failure: string | null = isOk(answer) ? null : `the agent answered with status ${answer.status}`;
  const error = isRpc && isFields(value) && isFields(value.error) ? value.error : null;
  if (error) failure = (textIn(error, 'message') ?? 'the agent answered with an error').slice(0, longestFailure);
  if (failure === null) {
    const result = isRpc && isFields(value) ? value.result : value;
    const changed = isFields(result)
      ? await passed(call, result, origin, again)
      : Array.isArray(result)
        ? await passedList(call, result)
        : result;
    if (changed !== result) {
      bytes = encoder.encode(JSON.stringify(isRpc && isFields(value) ? { ...value, result: changed } : changed));
    }
  }
  const headers = answerHeaders(call, answer);
  call.unsent = bytes.length >= countedFrom;
  call.settle({
    status: answer.status,
    headers,
    body: bytes,
    failure,
    answerText: failure === null ? decoder.decode(bytes) : '',
  });
  const reply = { status: answer.status, headers, body: bytes };
  return call.unsent ? toldWhenSent(reply, () => call.deps.services.release(call.identified.request)) : reply;
}

/** The result as it goes on; the very same object where nothing changed. */
async function passed(
  call: AgentCall,
  result: Fields,
  origin: string,
  again: (pageToken: string) => Promise<WireAnswer>,
): Promise<Fields> {
  const { operation } = call;
  if (operation.kind === 'extended card') {
    const reading = readCard(result);
    if ('fault' in reading) throw new AgentError('upstream_error', `the agent's extended card ${reading.fault}`);
    return rewrittenCard(reading.card, placeOf(call, origin));
  }
  if (operation.kind === 'list') return ownTasks(call, result, again);
  // What nobody knows the meaning of may still list tasks.
  if (operation.kind === 'other') {
    const shown = await onlyOwn(call, result);
    if (shown !== result) return shown;
  }
  call.sees(sightingsIn(result));
  if (operation.kind === 'push' || !call.guard) return result;
  const given = { ...result };
  const { denial, value } = await call.guard.after(given);
  if (denial !== null) throw denied(call, denial);
  return value === given ? result : value;
}

export const placeOf = ({ server }: AgentCall, origin: string) => ({
  address: `${origin}/v1/agent/${server.slug}`,
  upstream: server.url,
  skillsOff: server.skillsOff,
});

export const denied = ({ guard }: AgentCall, message: string): AgentError =>
  new AgentError('guardrail_denied', message, { hookResults: guard?.told ?? null });

/** More pages than this are somebody else's business. */
const mostPages = 20;

/** The caller's tasks. A page that holds only tasks of others is left out, so that nobody asks for pages without end. */
async function ownTasks(
  call: AgentCall,
  first: Fields,
  again: (pageToken: string) => Promise<WireAnswer>,
): Promise<Fields> {
  let result = first;
  for (let page = 1; ; page++) {
    const shown = await onlyOwn(call, result);
    const next = textIn(result, 'nextPageToken', 'next_page_token');
    if (next === null || page >= mostPages || !Array.isArray(shown.tasks) || shown.tasks.length > 0) return shown;
    const answer = await again(next);
    const value = jsonIn(await wholeOf(call, answer));
    const following = isFields(value) ? (call.posted.id === undefined ? value : value.result) : null;
    if (!isOk(answer) || !isFields(following)) return shown;
    result = following;
  }
}

/** Without tasks of others, under whatever name they are listed; the very same object where there are none. */
async function onlyOwn(call: AgentCall, result: Fields): Promise<Fields> {
  const lists = await Promise.all(
    Object.entries(result).map(async ([name, value]) => {
      if (!Array.isArray(value)) return null;
      const shown = await ownAmong(call, value, name === 'tasks' || call.operation.kind === 'list');
      return shown === value ? null : ([name, shown] as const);
    }),
  );
  const changed = lists.filter((list) => list !== null);
  return changed.length === 0 ? result : withoutTotals({ ...result, ...Object.fromEntries(changed) });
}

/** A list that stands by itself. */
const passedList = async (call: AgentCall, list: readonly unknown[]): Promise<readonly unknown[]> =>
  call.operation.kind === 'list' || call.operation.kind === 'other'
    ? ownAmong(call, list, call.operation.kind === 'list')
    : list;

/** `areTasks`: what nobody is known to own is not shown either. */
async function ownAmong(call: AgentCall, list: readonly unknown[], areTasks: boolean): Promise<readonly unknown[]> {
  const owners = await Promise.all(
    list.map((item) => {
      const id = isFields(item) ? taskIn(item) : null;
      return id === null ? null : call.deps.owners.of(call.server.url, 'task', id);
    }),
  );
  const { workspaceId, owner } = call.owner;
  const shown = list.filter((_, index) => {
    const found = owners[index];
    return found ? found.workspaceId === workspaceId && found.owner === owner : !areTasks;
  });
  return shown.length === list.length ? list : shown;
}

/** A stream of events. */
export function streamReply(call: AgentCall, answer: WireAnswer): Reply {
  const { deps, abort, posted } = call;
  const headers = {
    ...answerHeaders(call, answer),
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  if (!answer.body) throw new AgentError('upstream_error', 'the agent began a stream and sent nothing');
  const isRpc = posted.id !== undefined;
  const resultOf = (data: string): Fields | null => {
    const value = jsonOf(data);
    const result = isRpc && isFields(value) ? value.result : value;
    return isFields(result) ? result : null;
  };
  const reader = new EventReader(largestEvent);
  const { guard } = call;
  const leaveDone = deps.inFlight.enter();
  const body = eventPipe({
    body: answer.body,
    abort,
    deadlines: deps.upstream.deadlines,
    heartbeat: deps.heartbeat,
    async passing(bytes, events) {
      for (const { data } of events) call.sees(sightingsIn(resultOf(data)));
      if (!guard || (guard.state.guards.output.sync.length === 0 && guard.state.guards.output.async.length === 0)) {
        return { bytes };
      }
      let text = '';
      for (const event of reader.push(bytes)) {
        const data = await guarded(event.data);
        // What came before the event that is denied was fit to be seen.
        if (data instanceof AgentError) return { bytes: encoder.encode(text), end: data };
        text += writeSse({ ...event, data });
      }
      return { bytes: encoder.encode(text) };
    },
    lastEvent: (error) => lastEvent(error, posted.id),
    ended({ copy, fault, firstEventMs }) {
      leaveDone();
      call.settle({
        status: fault?.kind === 'client_closed' ? 499 : answer.status,
        headers,
        body: copy.bytes,
        failure: fault?.message.slice(0, longestFailure) ?? null,
        answerText: decoder.decode(copy.bytes),
        firstEventMs,
      });
    },
  });
  const guarded = async (data: string): Promise<string | AgentError> => {
    const value = jsonOf(data);
    const result = resultOf(data);
    if (!guard || !result || !isFields(value)) return data;
    const verdict = await guard.after({ ...result });
    if (verdict.denial !== null) return denied(call, verdict.denial);
    return JSON.stringify(isRpc ? { ...value, result: verdict.value } : verdict.value);
  };
  return { status: answer.status, headers, body };
}

function lastEvent(error: AgentError, id: AgentCall['posted']['id']): string {
  if (id !== undefined) return writeSse({ data: JSON.stringify({ jsonrpc: '2.0', id, error: error.rpc }) });
  const told = { error: { code: error.status, message: error.message, details: [] } };
  return writeSse({ event: 'error', data: JSON.stringify(told) });
}

const jsonOf = (data: string): unknown => {
  try {
    return readJson(data);
  } catch {
    return undefined;
  }
};

/** Anything else that an agent has below its address: carried through as it comes. */
export function carriedReply(call: AgentCall, answer: WireAnswer): Reply {
  const headers = answerHeaders(call, answer);
  const { status } = answer;
  const failure = isOk(answer) ? null : `the agent answered with status ${status}`;
  if (!answer.body) {
    call.settle({ status, headers, body: null, failure, answerText: '' });
    return { status, headers, body: null };
  }
  const leaveDone = call.deps.inFlight.enter();
  const source = { body: answer.body, abort: call.abort, idleMs: idleStreamMs };
  const body = pipeBody(source, call.deps.upstream.deadlines, ({ copy, outcome, error }) => {
    leaveDone();
    call.settle({
      status: outcome === 'client left' ? 499 : status,
      headers,
      body: copy.bytes,
      failure: outcome === 'complete' ? failure : (error?.message ?? 'the answer was not carried to its end'),
      answerText: '',
    });
  });
  return { status, headers, body };
}
