/** Speech and transcripts in Sarvam's own form. */
import { EncodedBody, type FormPart, formBody } from '../encoded-body.ts';
import { ProviderFault, RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { listOf, objectOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  aac: 'audio/aac',
  opus: 'audio/ogg',
};

export const sarvamSpeech: Translation = {
  request(facts) {
    const fields = new Fields(facts.body);
    return present({
      ...fields.others(new Set(['input', 'voice', 'speed', 'response_format', 'instructions'])),
      model: facts.model,
      text: fields.needText('input'),
      speaker: fields.text('voice'),
      pace: fields.number('speed'),
      output_audio_codec: fields.text('response_format'),
    });
  },
  response(answer, { body }) {
    const pieces = listOf(objectOf(answer).audios).map((audio) => Buffer.from(textOf(audio) ?? '', 'base64'));
    if (pieces.length === 0) throw new ProviderFault(502, 'the answer holds no audio');
    return new EncodedBody(types[textOf(body.response_format) ?? 'wav'] ?? 'audio/wav', Buffer.concat(pieces));
  },
};

const names: Readonly<Record<string, string>> = { language: 'language_code' };
const unsent = new Set(['model', 'response_format', 'temperature', 'prompt', 'stream']);

export const sarvamTranscription: Translation = {
  request({ body, files, model, newId }) {
    const file = files.get('file');
    if (!file) throw new RequestFault('file', 'file is missing');
    const fields = Object.entries(body).flatMap(([name, value]): [string, FormPart][] =>
      typeof value === 'string' && !unsent.has(name) ? [[names[name] ?? name, value]] : [],
    );
    return formBody(newId('form'), [['model', model], ...fields, ['file', file]]);
  },
  response(answer, { body }) {
    const { transcript, language_code } = objectOf(answer);
    const text = textOf(transcript) ?? '';
    if (body.response_format === 'text') return new EncodedBody('text/plain; charset=utf-8', Buffer.from(`${text}\n`));
    return present({ text, language: body.response_format === 'verbose_json' ? language_code : null });
  },
};
