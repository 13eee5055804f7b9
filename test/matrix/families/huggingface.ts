/** Hugging Face: a server of Text Generation Inference, with its own word for the end and chunks that have no id. */
import { chunksOf, completionOf, guarded } from '../../providers/chat-api.ts';
import { json, stream } from '../../providers/simulated.ts';
import type { Script } from '../cells.ts';
import { chatHost, chatScript, limitAsMaxTokens } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const host = chatHost({
  name: 'Hugging Face',
  provider: 'huggingface',
  model: 'openai/gpt-oss-120b',
  asks: limitAsMaxTokens,
  fails: (status, message) => json(status, { error: message, error_type: 'overloaded' }),
});

const scriptOf = (script: Script) => ({
  ...(script.calls === undefined && { finish_reason: 'eos_token' }),
  ...chatScript(script),
});

export const huggingFace: MatrixFamily = {
  ...host,
  does: (script) =>
    script.fails
      ? host.does(script)
      : guarded((call, response) =>
          call.json.stream
            ? stream(
                chunksOf(scriptOf(script), call.json).map((chunk) => chunk.replace(/"id":"chatcmpl-9"/, '"id":""')),
              )(call, response)
            : json(200, completionOf(scriptOf(script), call.json.model))(call, response),
        ),
};
