/** Transcripts: the canonical request for one, and the forms in which clients want it. */
import { EncodedBody } from './encoded-body.ts';
import { RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import { present } from './json.ts';
import type { CallFacts, JsonObject, SentFile } from './provider.ts';
import { readUsage } from './usage.ts';

export interface Spoken {
  text: string;
  /** Seconds from the beginning. */
  start: number;
  end: number;
  speaker?: string | number | null;
}

export interface Transcript {
  text: string;
  language: string | null;
  /** In seconds. */
  duration: number | null;
  words: readonly Spoken[];
  segments: readonly Spoken[];
}

interface TranscriptRequest {
  file: SentFile | null;
  language: string | null;
  /** Fields that OpenAI does not know, as text: forms know nothing else. */
  extras: JsonObject;
}

const known = new Set([
  'model',
  'file',
  'language',
  'prompt',
  'response_format',
  'temperature',
  'timestamp_granularities',
  'timestamp_granularities[]',
  'include[]',
  'stream',
]);

export function readTranscript({ body: json, files, stream }: CallFacts): TranscriptRequest {
  const body = new Fields(json);
  if (stream) throw new RequestFault('stream', 'this provider does not stream transcripts');
  const format = body.text('response_format') ?? 'json';
  if (!formats.has(format)) {
    throw new RequestFault('response_format', `response_format must be one of ${[...formats].join(', ')}`);
  }
  return { file: files.get('file') ?? null, language: body.text('language'), extras: body.others(known) };
}

const formats = new Set(['json', 'text', 'verbose_json', 'srt', 'vtt']);

/** For providers that take nothing but a file. */
export function needFile({ file }: TranscriptRequest): SentFile {
  if (file) return file;
  throw new RequestFault('file', 'file is missing');
}

export function writeTranscript({ body, kind }: CallFacts, transcript: Transcript): JsonObject | EncodedBody {
  const { text, duration } = transcript;
  const usage = duration === null ? null : { type: 'duration', seconds: Math.ceil(duration) };
  const plain = (words: string) => new EncodedBody('text/plain; charset=utf-8', Buffer.from(words), readUsage(usage));
  switch (body.response_format) {
    case 'text':
      return plain(`${text}\n`);
    case 'srt':
      return plain(captions(transcript, ','));
    case 'vtt':
      return plain(`WEBVTT\n\n${captions(transcript, '.')}`);
    case 'verbose_json':
      return verbose(transcript, kind === 'createTranslation' ? 'translate' : 'transcribe', usage);
    default:
      return present({ text, usage });
  }
}

const verbose = ({ text, language, duration, words, segments }: Transcript, task: string, usage: JsonObject | null) =>
  present({
    task,
    language: language ?? '',
    duration: duration ?? 0,
    text,
    words: words.map(({ text: word, start, end, speaker }) => present({ word, start, end, speaker })),
    segments: segments.map((segment, id) => present({ id, ...segment })),
    usage,
  });

/** A caption for each segment; one for everything where there are none. */
function captions({ text, duration, segments }: Transcript, fraction: string): string {
  const shown = segments.length > 0 ? segments : [{ text, start: 0, end: duration ?? 0 }];
  return shown
    .map(
      (segment, index) =>
        `${fraction === ',' ? `${index + 1}\n` : ''}${moment(segment.start, fraction)} --> ${moment(segment.end, fraction)}\n${segment.text.trim()}\n\n`,
    )
    .join('');
}

function moment(seconds: number, fraction: string): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
  const [hours, minutes] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60];
  return `${pad(hours)}:${pad(minutes)}:${pad(Math.floor(total / 1000) % 60)}${fraction}${pad(total % 1000, 3)}`;
}
