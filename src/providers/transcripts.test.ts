import { expect, test } from 'bun:test';
import { callFacts } from '../../test/call-facts.ts';
import { EncodedBody } from './encoded-body.ts';
import { writeTranscript } from './transcripts.ts';

const transcript = { text: 'Hello there.', language: 'en', duration: 3.2, words: [], segments: [] };

test.each(['text', 'srt', 'vtt'])(
  'a transcript as %s, which has no room for it, is still counted',
  (response_format) => {
    const written = writeTranscript(callFacts({ body: { response_format } }), transcript);
    expect(written).toBeInstanceOf(EncodedBody);
    expect(written).toMatchObject({ usage: { units: { audio_seconds: 4 } } });
    expect(writeTranscript(callFacts({ body: { response_format } }), { ...transcript, duration: null })).toMatchObject({
      usage: null,
    });
  },
);
