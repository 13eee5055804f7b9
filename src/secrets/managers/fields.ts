/** Fields that the credentials of several managers are made of. */
import { z } from 'zod';

const longest = 4_096;

/** One line of text: it travels in headers, forms and JSON. */
export const bounded = (most = longest) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}*$/u, 'may hold no control characters');

export const address = () =>
  bounded(2_048)
    .regex(/^https?:\/\//i, 'must be an http or https address')
    .refine((text) => URL.canParse(text) && new URL(text).search === '', {
      message: 'must be an address without a query',
    });

/** The address with a path behind it, whether or not it ends in a slash. */
export const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}/${path}`;
