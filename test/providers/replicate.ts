/** Replicate: predictions that are done at the second time of asking, unless the call waits for them; and the streams of those that can stream. */
import { picture } from './picture-makers.ts';
import { type Behaviour, bytes, json, type ReceivedCall, stream } from './simulated.ts';

const refusal = (status: number, title: string, detail: string): Behaviour => json(status, { title, detail, status });

/** Each line of a piece is a line of the event. */
const event = (name: string, text: string, id: number): string =>
  `event: ${name}\nid: 1690212292:${id}\n${text
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;

/** The pieces as they are said, amid logs, and the word that all is said. */
export const predictionEvents = (pieces: readonly string[], done: object = {}): string[] => [
  ': hi\n\n',
  event('logs', 'Loading', 0),
  ...pieces.map((piece, index) => event('output', piece, index + 1)),
  event('done', JSON.stringify(done), pieces.length + 1),
];

interface Predicting {
  /** What the model makes. */
  output(call: ReceivedCall): unknown;
  /** What its stream says; nothing: its output, piece by piece. */
  events?(): readonly string[] | null;
  /** Told when somebody cancels. */
  cancelled?(): void;
}

const metrics = { input_token_count: 6, output_token_count: 4 };

/** A model whose name begins with `still-` does not stream. */
export const replicateApi = (key: string, { output, events, cancelled }: Predicting): Behaviour => {
  const told = (call: ReceivedCall): readonly string[] => {
    const made = output(call);
    return events?.() ?? predictionEvents((Array.isArray(made) ? made : [made]).map(String));
  };
  return (call, response) => {
    if (call.path.startsWith('/files/')) return bytes(200, picture, { 'content-type': 'image/png' })(call, response);
    if (call.path.startsWith('/streams/')) {
      const answer =
        call.headers.accept === 'text/event-stream'
          ? stream(told(call))
          : refusal(406, 'Not acceptable', 'ask for text/event-stream');
      return answer(call, response);
    }
    if (call.headers.authorization !== `Bearer ${key}`)
      return refusal(401, 'Unauthenticated', 'You did not pass a valid token')(call, response);
    if (call.path.endsWith('/cancel')) {
      cancelled?.();
      return json(200, { id: 'p-1', status: 'canceled' })(call, response);
    }
    if (call.method === 'POST') return created(call, output(call))(call, response);
    return json(200, { id: 'p-1', status: 'succeeded', output: output(call), metrics })(call, response);
  };
};

function created(call: ReceivedCall, output: unknown): Behaviour {
  const waits = call.headers.prefer?.startsWith('wait');
  if (call.json.stream && waits) return refusal(400, 'Bad request', 'Prefer: wait cannot be used with stream');
  if (waits && !call.json.input.prompt?.includes('slow'))
    return json(201, { id: 'p-1', status: 'succeeded', output, metrics });
  const address = `http://${call.headers.host}`;
  const streams = call.json.stream && !call.path.includes('/still-');
  const urls = {
    get: `${address}/predictions/p-1`,
    cancel: `${address}/predictions/p-1/cancel`,
    ...(streams && { stream: `${address}/streams/p-1` }),
  };
  return json(201, { id: 'p-1', status: 'starting', output: null, urls });
}
