/** What Gemini says, in OpenAI's events. */
import { isObject, listOf, objectOf, objectsOf, textOf } from '../../json.ts';
import type { JsonObject } from '../../provider.ts';
import { notice } from './errors.ts';
import type { LiveOutcome } from './response.ts';
import type { Talk } from './talk.ts';

export function hearProvider(talk: Talk, message: JsonObject): void {
  if (message.setupComplete) talk.outbox.agreed();
  talk.usage.saw(message.usageMetadata);
  if (isObject(message.voiceActivity)) voiceActivity(talk, message.voiceActivity);
  if (isObject(message.serverContent)) content(talk, message.serverContent);
  if (isObject(message.toolCall)) toolCall(talk, message.toolCall);
  if (isObject(message.toolCallCancellation)) cancellation(talk, message.toolCallCancellation);
  if (isObject(message.goAway)) goAway(talk, message.goAway);
}

function content(talk: Talk, said: JsonObject): void {
  const heard = objectOf(said.inputTranscription);
  talk.hearing.transcribed(textOf(heard.text) ?? '', heard.finished === true);
  for (const part of objectsOf(objectOf(said.modelTurn).parts)) modelPart(talk, part);
  const transcript = textOf(objectOf(said.outputTranscription).text) ?? '';
  if (transcript !== '') speaking(talk).transcript(transcript);
  if (said.interrupted === true) interrupted(talk);
  if (said.turnComplete === true) turnComplete(talk, textOf(said.turnCompleteReason));
}

/** What comes after an interruption is a response of its own. */
function speaking(talk: Talk) {
  if (talk.response?.interrupted) talk.finish(brokenOff(talk.response.cancelled));
  return talk.respond();
}

function modelPart(talk: Talk, part: JsonObject): void {
  // Nobody asked for thoughts, and there is no event for them.
  if (part.thought === true) return;
  const data = objectOf(part.inlineData);
  const text = textOf(part.text) ?? '';
  if (textOf(data.mimeType)?.startsWith('audio/')) speaking(talk).audio(textOf(data.data) ?? '');
  else if (text !== '') speaking(talk).text(text);
  else foreignPart(talk, part);
}

function foreignPart({ outbox }: Talk, part: JsonObject): void {
  const field = Object.keys(part).find((name) => isObject(part[name]));
  if (field === undefined) return;
  const words = `the model answered with ${field}, for which OpenAI's realtime has no event`;
  outbox.tell('error', notice('untranslatable_content', words, `serverContent.modelTurn.parts.${field}`));
}

/** The client must stop to play what it has of the response; its end is told when Google tells it. */
function interrupted({ response, hearing, settings }: Talk): void {
  if (!response) return;
  response.interrupted = true;
  if (settings.detection && hearing.fresh && !response.cancelled) hearing.started(null);
}

const brokenOff = (cancelled: boolean): LiveOutcome => ({
  status: 'cancelled',
  details: { reason: cancelled ? 'client_cancelled' : 'turn_detected' },
});

function turnComplete(talk: Talk, reason: string | null): void {
  const { response } = talk;
  const fault = reason === null ? null : faultOf(reason);
  const wasCalled = talk.called;
  talk.called = false;
  // It ends the turn in which a function was called, whose response is over.
  if ((!response || (wasCalled && response.isEmpty)) && !fault) {
    talk.usage.next();
    talk.hearing.turnOver();
    return;
  }
  talk.respond();
  talk.finish(fault ?? (response?.interrupted ? brokenOff(response.cancelled) : { status: 'completed' }));
}

const harmless = new Set(['TURN_COMPLETE_REASON_UNSPECIFIED', 'NEED_MORE_INPUT']);
const failures = new Set(['MALFORMED_FUNCTION_CALL', 'RESPONSE_REJECTED', 'MAX_REGENERATION_REACHED']);

/** All other reasons are about what may not be said. */
function faultOf(reason: string): LiveOutcome | null {
  if (harmless.has(reason)) return null;
  if (!failures.has(reason)) return { status: 'incomplete', details: { reason: 'content_filter' } };
  return { status: 'failed', details: { error: { type: 'server_error', code: reason.toLowerCase() } } };
}

/** Calls end a response: the client answers them, and asks for the next one. */
function toolCall(talk: Talk, { functionCalls }: JsonObject): void {
  const response = speaking(talk);
  for (const call of objectsOf(functionCalls)) {
    const given = textOf(call.id);
    const callId = given || talk.newId('call_');
    const name = textOf(call.name) ?? '';
    talk.calls.set(callId, { name, given: Boolean(given) });
    response.call({ callId, name, arguments: JSON.stringify(objectOf(call.args)) });
  }
  talk.finish({ status: 'completed' });
  talk.called = true;
}

function cancellation({ calls, outbox }: Talk, { ids }: JsonObject): void {
  for (const id of listOf(ids)) {
    if (typeof id !== 'string' || !calls.delete(id)) continue;
    outbox.tell('error', notice('tool_call_cancelled', `the result of the call "${id}" is not wanted any more`, id));
  }
}

function goAway({ outbox }: Talk, { timeLeft }: JsonObject): void {
  const left = textOf(timeLeft);
  outbox.tell('error', notice('session_expiring', `the provider ends this session${left ? ` in ${left}` : ' soon'}`));
}

function voiceActivity({ hearing }: Talk, { voiceActivityType: type, audioOffset }: JsonObject): void {
  const seconds = Number.parseFloat(textOf(audioOffset) ?? '');
  const atMs = Number.isFinite(seconds) ? seconds * 1000 : null;
  if (type === 'ACTIVITY_START') hearing.started(atMs);
  else if (type === 'ACTIVITY_END') hearing.stopped(atMs);
}
