/** Images and transcripts on Workers AI. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { onlyOne, readImages, writeImages } from '../images.ts';
import { countOf, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { needFile, readTranscript, writeTranscript } from '../transcripts.ts';
import { resultIn } from './envelope.ts';

/** Older models answer with the image itself, newer ones with its text in JSON. */
export const images: Translation = {
  takes: 'bytes',
  request(facts) {
    const request = readImages(facts);
    onlyOne(request);
    const { prompt, size, seed, extras } = request;
    return present({ prompt, width: size?.width, height: size?.height, seed, ...extras });
  },
  response(_answer, facts, { headers, bytes }) {
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('image/')) return writeImages(facts, [{ base64: Buffer.from(bytes).toString('base64') }]);
    const image = textOf(resultIn(parsed(new TextDecoder().decode(bytes))).image);
    if (image === null) throw new ProviderFault(502, 'the answer holds no image');
    return writeImages(facts, [{ base64: image }]);
  },
};

/** The largest model takes JSON, the others the bare recording. */
export const transcription: Translation = {
  request(facts) {
    const request = readTranscript(facts);
    const { bytes, contentType } = needFile(request);
    if (!/turbo/.test(facts.model)) return new EncodedBody(contentType, Buffer.from(bytes));
    const { language, extras } = request;
    return present({
      audio: Buffer.from(bytes).toString('base64'),
      language,
      initial_prompt: facts.body.prompt,
      ...extras,
    });
  },
  response(answer, facts) {
    const { text, words, segments, transcription_info } = resultIn(answer);
    const { language, duration } = objectOf(transcription_info);
    const listed = objectsOf(segments);
    const spoken = objectsOf(words ?? listed.flatMap((segment) => objectsOf(segment.words)));
    const last = spoken.at(-1);
    return writeTranscript(facts, {
      text: textOf(text) ?? '',
      language: textOf(language),
      duration: countOf(duration) || (last ? countOf(last.end) : null),
      words: spoken.map((word) => ({
        text: textOf(word.word) ?? '',
        start: countOf(word.start),
        end: countOf(word.end),
      })),
      segments: listed.map((segment) => ({
        text: textOf(segment.text) ?? '',
        start: countOf(segment.start),
        end: countOf(segment.end),
      })),
    });
  },
};
