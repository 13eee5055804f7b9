/** The stream of a prediction: pieces of its output, what goes wrong, and the word that it is done. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { objectOf, parsed, textOf } from '../json.ts';
import type { ServerEvent } from '../provider.ts';
import { usageOf } from './prediction.ts';

export class PredictionReader implements AnswerReader {
  read({ event, data }: ServerEvent): AnswerEvent[] {
    switch (event) {
      case 'output':
        return data === '' ? [] : [{ type: 'text', choice: 0, text: data }];
      case 'error':
        throw faultIn(502, parsed(data)) ?? new ProviderFault(502, data || 'the prediction failed');
      case 'done':
        return finished(data);
      // Logs, and whatever else there may be.
      default:
        return [];
    }
  }

  end(): AnswerEvent[] {
    return [];
  }
}

/** Also a prediction that failed or was cancelled is done, and says why. */
function finished(data: string): AnswerEvent[] {
  const last = objectOf(parsed(data));
  const reason = textOf(last.reason);
  if (reason === 'canceled') throw new ProviderFault(499, 'the prediction was cancelled');
  if (reason === 'error') throw new ProviderFault(502, 'the prediction failed');
  const usage = usageOf(last);
  return [
    { type: 'finish', choice: 0, reason: 'stop', providerReason: reason, stopSequence: null },
    ...(usage ? [{ type: 'usage', usage } as const] : []),
  ];
}
