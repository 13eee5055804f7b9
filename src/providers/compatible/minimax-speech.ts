/** Speech of MiniMax, and its failures, which come with status 200. */
import { EncodedBody } from '../encoded-body.ts';
import { ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { isObject, numberOf, objectOf, present, textOf } from '../json.ts';
import type { JsonObject, Translation } from '../provider.ts';

/** By MiniMax's codes: what another provider would have answered with. */
const statuses: Readonly<Record<number, number>> = {
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1042: 400,
  2013: 400,
  2049: 401,
};

export function minimaxFault({ base_resp }: JsonObject): ProviderFault | null {
  const code = numberOf(objectOf(base_resp).status_code);
  if (!isObject(base_resp) || code === null || code === 0) return null;
  return new ProviderFault(statuses[code] ?? 500, textOf(base_resp.status_msg) ?? `MiniMax failed with ${code}`, {
    code: String(code),
  });
}

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

export const minimaxSpeech: Translation = {
  request(facts) {
    const fields = new Fields(facts.body);
    const others = fields.others(
      new Set([
        'model',
        'input',
        'voice',
        'speed',
        'response_format',
        'voice_setting',
        'audio_setting',
        'instructions',
      ]),
    );
    return {
      ...others,
      model: facts.model,
      text: fields.needText('input'),
      stream: false,
      output_format: 'hex',
      voice_setting: present({
        voice_id: fields.text('voice'),
        speed: fields.number('speed'),
        ...fields.raw('voice_setting'),
      }),
      audio_setting: present({ format: fields.text('response_format'), ...fields.raw('audio_setting') }),
    };
  },
  response(answer, facts) {
    const fault = minimaxFault(objectOf(answer));
    if (fault) throw fault;
    const audio = textOf(objectOf(objectOf(answer).data).audio);
    if (!audio) throw new ProviderFault(502, 'the answer holds no audio');
    const format = textOf(objectOf(facts.body.audio_setting).format) ?? textOf(facts.body.response_format) ?? 'mp3';
    return new EncodedBody(types[format] ?? 'application/octet-stream', Buffer.from(audio, 'hex'));
  },
};
