/** OpenAI's responses, as clients speak it. */
import type { Front } from '../../chat/family.ts';
import { stepsOf } from '../../chat/replay.ts';
import type { JsonObject, ServerEvent } from '../../provider.ts';
import { readResponses } from './read.ts';
import { ResponseInMaking } from './response.ts';

/** Each event is named by its own type. */
const named = (event: JsonObject): ServerEvent => ({ event: String(event.type), data: JSON.stringify(event) });

export const responsesFront: Front = {
  read: readResponses,
  write(answer, facts) {
    const response = new ResponseInMaking(facts);
    for (const step of stepsOf(answer)) response.apply(step);
    response.end();
    return response.whole;
  },
  writer(facts) {
    const response = new ResponseInMaking(facts);
    return {
      write: (event) => response.apply(event).map(named),
      end: () => response.end().map(named),
    };
  },
};
