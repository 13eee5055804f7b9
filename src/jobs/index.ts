/** Every job of the program. */
import type { Services } from '../admin/kernel/services.ts';
import type { Job } from './runner.ts';

export const createJobs = (_services: Services): Job[] => [];
