/** Where an integration or a model is reached instead of the provider's own address, and the headers that go with every call. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';

/** The form alone; whether the address may be called is for its own rules. */
export const customHost = lazy(() =>
  z
    .string()
    .min(1)
    .max(2_048)
    .meta({ examples: ['https://models.example.com/v1'] }),
);

const mostHeaders = 50;
/** The connection's own headers: setting them would break the call or smuggle another one into it. */
const ownedByTheConnection = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const customHeaders = lazy(() =>
  z
    .record(z.string().min(1).max(128), z.string().max(8_192))
    .refine((headers) => Object.keys(headers).length <= mostHeaders, { message: `at most ${mostHeaders} headers` })
    .superRefine((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        const fault = faultOf(name, value);
        if (fault) context.addIssue({ code: 'custom', path: [name], message: fault });
      }
    }),
);

function faultOf(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is no name of a header';
  if (ownedByTheConnection.has(name.toLowerCase())) return 'is set by the connection itself';
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return 'holds a character that no header can carry';
  return null;
}
