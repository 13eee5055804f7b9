/** Why a batch as a whole did not come to its end. */
import type { BatchFault } from './schema.ts';

export const faultOf = (code: string, message: string): BatchFault => ({ code, message, line: null, param: null });

export const keyGone = faultOf('invalid_api_key', 'the API key or token that made this batch no longer counts');
export const inputGone = faultOf('file_not_found', 'the input file was deleted before all of its lines were run');
