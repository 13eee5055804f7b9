/** GigaChat. */
import type { TokenExchange } from '../authentication.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { setting } from '../settings.ts';
import { functionAsCall, toolsAsFunctions } from './gigachat-functions.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

/** An authorisation key is a client's id and secret in base64; an access token is none. */
const isAuthorisationKey = (credential: string): boolean =>
  /^[A-Za-z0-9+/]+={0,2}$/.test(credential) && /^[\w-]+:[\w-]+$/.test(Buffer.from(credential, 'base64').toString());

const exchanged = (key: string, scope: string): TokenExchange => ({
  kind: 'exchange',
  service: 'GigaChat',
  url: 'https://ngw.devices.sberbank.ru:9443/api/v2/oauth',
  method: 'POST',
  headers: { authorization: `Basic ${key}` },
  idHeader: 'rquid',
  form: { scope },
});

const privateScope = 'GIGACHAT_API_PERS';

export const gigachat = openAiCompatible({
  id: 'gigachat',
  name: 'GigaChat',
  address: 'https://gigachat.devices.sberbank.ru/api/v1',
  authentication: ({ credential, fields }) =>
    credential !== null && isAuthorisationKey(credential)
      ? exchanged(credential, setting(fields, 'gigachat_scope') ?? privateScope)
      : null,
  fields: [
    {
      name: 'gigachat_scope',
      about: `Whose key it is: ${privateScope} for a person (where none is given), GIGACHAT_API_B2B or GIGACHAT_API_CORP for a company.`,
    },
  ],
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, toolsAsFunctions], answers: [functionAsCall] }),
    ...offered('embed'),
  },
  notes: [
    'The credential is the authorisation key; the gateway exchanges it for an access token that lives half an hour, and renews that. An access token itself is sent as it is.',
    'Its certificates are signed by an authority that most systems do not know: give it to the gateway in NODE_EXTRA_CA_CERTS.',
    'Tools are sent as functions, one call at a time: several calls in one turn are refused.',
  ],
});
