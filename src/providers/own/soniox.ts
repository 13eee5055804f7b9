/** Soniox: transcripts of recordings that are left with it for as long as that takes. */
import { inPath } from '../compatible/quirks/paths.ts';
import { formBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, objectsOf, present, textOf } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, JsonObject, Provider, Steps } from '../provider.ts';
import { asked, polled, type Stepping } from '../stepping.ts';
import { needFile, readTranscript, type Transcript, writeTranscript } from '../transcripts.ts';

const transcription: Steps = function* (facts) {
  const recording = yield* uploaded(facts);
  const { language, extras } = readTranscript(facts);
  const { id } = yield* asked({
    method: 'POST',
    path: '/v1/transcriptions',
    body: present({ model: facts.model, file_id: recording, language_hints: language && [language], ...extras }),
  });
  const path = `/v1/transcriptions/${inPath(textOf(id) ?? '')}`;
  const state = yield* polled({ method: 'GET', path }, finished);
  const said = yield* asked({ method: 'GET', path: `${path}/transcript` });
  // What is left behind would count against the account; that it could not be taken away is no fault of the transcript.
  yield {
    calls: [path, `/v1/files/${recording}`].map((gone) => ({ method: 'DELETE', path: gone, accepts: leavable })),
  };
  return writeTranscript(facts, transcriptIn(said, state));
};

const leavable = [400, 404, 409, 429, 500, 502, 503];

function* uploaded(facts: CallFacts): Stepping<string> {
  const file = needFile(readTranscript(facts));
  const { id } = yield* asked({
    method: 'POST',
    path: '/v1/files',
    body: formBody(facts.newId('form-'), [['file', file]]),
  });
  return inPath(textOf(id) ?? '');
}

function finished(state: JsonObject): JsonObject | null {
  if (state.status === 'completed') return state;
  if (state.status !== 'error') return null;
  throw new ProviderFault(400, textOf(state.error_message) ?? 'the recording could not be read', {
    code: textOf(state.error_type),
  });
}

function transcriptIn({ text, tokens }: JsonObject, { audio_duration_ms }: JsonObject): Transcript {
  const pieces = objectsOf(tokens);
  return {
    text: textOf(text) ?? '',
    language: textOf(pieces.at(0)?.language),
    duration: countOf(audio_duration_ms) / 1000 || null,
    words: pieces.map((piece) => ({
      text: textOf(piece.text) ?? '',
      start: countOf(piece.start_ms) / 1000,
      end: countOf(piece.end_ms) / 1000,
      speaker: textOf(piece.speaker),
    })),
    segments: [],
  };
}

export const soniox: Provider = {
  id: 'soniox',
  name: 'Soniox',
  address: 'https://api.soniox.com',
  needsCredential: true,
  headers: bearer,
  endpoints: { createTranscription: { steps: transcription } },
  notes: ['Recordings and transcripts are deleted at Soniox as soon as they have been read.'],
};
