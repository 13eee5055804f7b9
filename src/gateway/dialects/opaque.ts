/** Streams whose events the gateway only carries, such as images and audio: their end is the end of the bytes. */
import { readUsage } from '../../providers/usage.ts';
import { errorBody } from '../errors.ts';
import { type Dialect, jsonOf, reportedFault } from './dialect.ts';

export const opaqueDialect: Dialect = {
  read(event, state) {
    const json = jsonOf(event);
    state.otherContent++;
    if (json?.error) return reportedFault(json.error);
    const usage = readUsage(json?.usage);
    if (usage) state.usage = usage;
    return 'part';
  },
  errorEvent: (error) => ({ event: 'error', data: JSON.stringify(errorBody(error, 'openai')) }),
  terminator: null,
  endsWithBytes: true,
  resume: null,
};
