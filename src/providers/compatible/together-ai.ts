/** Together AI. */
import { readImages } from '../images.ts';
import { objectsOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { finishReasons, thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { mended } from './quirks/mended.ts';
import { limitAsMaxTokens, type Quirk } from './quirks/parameters.ts';
import { lacking } from './quirks/same.ts';

/** Width and height instead of the size, and another word for base64. */
const sidesForSize: Quirk = (body, facts) => {
  if (!('size' in body) && body.response_format !== 'b64_json') return body;
  const { size, form } = readImages({ ...facts, body });
  return {
    ...lacking(body, 'size', 'response_format'),
    ...(size && { width: size.width, height: size.height }),
    ...(form !== null && { response_format: form === 'b64_json' ? 'base64' : form }),
  };
};

/** The list of models comes without an object around it. */
const bareList: Translation = {
  response: (answer) => ({
    object: 'list',
    data: objectsOf(Array.isArray(answer) ? answer : (answer as { data?: unknown }).data),
  }),
};

export const togetherAi = openAiCompatible({
  id: 'together-ai',
  name: 'Together AI',
  aliases: ['together'],
  address: 'https://api.together.xyz/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens], answers: [finishReasons, thoughtsUnderBothNames] }),
    complete: { translation: mended([finishReasons]) },
    imageGenerate: { adjust: sidesForSize },
    listModels: { translation: bareList },
    ...offered('embed', 'rerank', 'createSpeech', 'createTranscription'),
  },
});
