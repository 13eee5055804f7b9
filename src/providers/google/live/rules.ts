/** What a model's name tells about its sessions. */
import { generationOf } from '../generation.ts';

/** Turns are taken at any time. Models of the third generation before 3.8 take them as history alone, before anybody has spoken. */
export const takesTurns = (model: string): boolean => {
  const generation = generationOf(model);
  return generation === null || generation < 3 || generation >= 3.8;
};

const isAtLeast = (model: string, least: number): boolean => (generationOf(model) ?? 0) >= least;

/** Instructions and tools may change in the middle of a session. */
export const takesNewContext = (model: string): boolean => isAtLeast(model, 3.8);

/** Goes on talking while a function runs, unless the function's declaration forbids it. */
export const mustBeToldToWait = (model: string): boolean =>
  isAtLeast(model, 3.8) && !model.includes('extended-thinking');
