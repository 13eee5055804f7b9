/** An endpoint of SageMaker's whose container speaks OpenAI's dialect: its stream comes in frames that cut it anywhere. */
import { keySettings, keys, known, refuses } from '../../providers/bedrock.ts';
import { chunksOf, completionOf, guarded } from '../../providers/chat-api.ts';
import { bytesFrame, frames } from '../../providers/event-stream.ts';
import { json } from '../../providers/simulated.ts';
import { asOpenAi, chatHost, chatScript } from '../chat-host.ts';
import type { MatrixFamily } from '../family.ts';

const endpoint = '/endpoints/my-endpoint/invocations';
const frameSize = 19;

const framed = (text: string): Buffer[] => {
  const whole = Buffer.from(text);
  return Array.from({ length: Math.ceil(whole.length / frameSize) }, (_, index) =>
    bytesFrame('PayloadPart', whole.subarray(index * frameSize, (index + 1) * frameSize)),
  );
};

const host = chatHost({
  name: 'SageMaker',
  provider: 'sagemaker',
  model: 'my-endpoint',
  address: (url) => new URL(url).origin,
  settings: { ...keySettings, amzn_sagemaker_model_name: 'tgi' },
  asks: (body) => ({ ...body, path: endpoint, model: 'tgi' }),
  fails: (status, message) => refuses(status, 'ThrottlingException', message),
});

export const sagemaker: MatrixFamily = {
  ...host,
  received: ({ path, json: body }) => ({ path, ...body }),
  streamed: (...asked) => ({ ...host.streamed(...asked), path: `${endpoint}-response-stream` }),
  does: (script) =>
    script.fails
      ? host.does(script)
      : known(
          (call, response) =>
            guarded((asked, answer) =>
              call.path === endpoint
                ? json(200, completionOf(chatScript(script), 'tgi'))(asked, answer)
                : frames(framed(chunksOf(chatScript(script), asked.json).join('')))(asked, answer),
            )(asOpenAi(call), response),
          keys,
          'sagemaker',
        ),
};
