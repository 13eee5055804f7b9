/** Transcripts by Google's Cloud Speech-to-Text, where the Chirp models live. */
import { RequestFault } from '../faults.ts';
import { objectOf, objectsOf, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint } from '../provider.ts';
import { needFile, readTranscript, type Spoken, type Transcript, writeTranscript } from '../transcripts.ts';
import { vertexModel } from './model.ts';
import { atRegionalService, placeOf } from './place.ts';

/** Google wants a region with each language; Chinese has a name of its own there. */
function languageCode(language: string): string {
  if (language.includes('-') || language === 'auto') return language;
  if (language === 'zh') return 'cmn-Hans-CN';
  try {
    const likely = new Intl.Locale(language).maximize();
    return likely.region ? `${likely.language}-${likely.region}` : language;
  } catch {
    throw new RequestFault('language', 'language must be a language tag, such as en or pt-BR');
  }
}

const timed = new Set(['verbose_json', 'srt', 'vtt']);

function request(facts: CallFacts): JsonObject {
  const asked = readTranscript(facts);
  const { bytes } = needFile(asked);
  return {
    config: {
      model: vertexModel(facts.model).name,
      languageCodes: [asked.language === null ? 'auto' : languageCode(asked.language)],
      features: {
        enableAutomaticPunctuation: true,
        ...(timed.has(textOf(facts.body.response_format) ?? '') && { enableWordTimeOffsets: true }),
      },
      autoDecodingConfig: {},
    },
    content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  };
}

/** A duration in JSON is a text such as `1.500s`; none is zero. */
const seconds = (duration: unknown): number => Number.parseFloat(textOf(duration) ?? '') || 0;

function transcriptIn({ results, metadata }: JsonObject): Transcript {
  // A result without alternatives only marks silence.
  const pieces = objectsOf(results).flatMap(({ alternatives, resultEndOffset, languageCode }) =>
    objectsOf(alternatives)
      .slice(0, 1)
      .map((best) => ({ best, resultEndOffset, languageCode })),
  );
  let start = 0;
  const segments: Spoken[] = pieces.map(({ best, resultEndOffset }) => {
    const segment = { text: said(best), start, end: seconds(resultEndOffset) };
    start = segment.end;
    return segment;
  });
  return {
    text: segments.map(({ text }) => text).join(' '),
    language: textOf(pieces.find(({ languageCode }) => textOf(languageCode) !== null)?.languageCode),
    duration: seconds(objectOf(metadata).totalBilledDuration) || start || null,
    words: pieces.flatMap(({ best }) => objectsOf(best.words).map(wordIn)),
    segments,
  };
}

const said = (alternative: JsonObject): string => (textOf(alternative.transcript) ?? '').trim();

const wordIn = ({ word, startOffset, endOffset, speakerLabel }: JsonObject): Spoken => ({
  text: textOf(word) ?? '',
  start: seconds(startOffset),
  end: seconds(endOffset),
  speaker: textOf(speakerLabel),
});

export const cloudTranscription: ProviderEndpoint = {
  path: (facts) => atRegionalService(facts, 'speech', `/v2/${placeOf(facts)}/recognizers/_:recognize`),
  translation: { request, response: (answer, facts) => writeTranscript(facts, transcriptIn(objectOf(answer))) },
};
