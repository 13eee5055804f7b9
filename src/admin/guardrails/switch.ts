/** The operator may switch guardrails off for the whole installation. */
import { ApiError } from '../../http/errors.ts';
import type { Endpoint } from '../kernel/endpoint.ts';

/** An endpoint that is not there while they are off. */
export const whileSwitchedOn = (declared: Endpoint): Endpoint => ({
  ...declared,
  async handle(call) {
    if (!call.services.settings.guardrails)
      throw new ApiError('AB08', 'Guardrails are switched off (GUARDRAILS_ENABLED=OFF)');
    return declared.handle(call);
  },
});
