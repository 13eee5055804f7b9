/** IBM Cloud: an API key is exchanged for a token. */
import type { Authorise } from './credentials.ts';
import { askToken } from './token-service.ts';

const address = 'https://iam.cloud.ibm.com/identity/token';

export const ibm: Authorise<'ibm'> = async (authentication, _request, surroundings) => {
  const token = await surroundings.tokens.get(authentication, () =>
    askToken(surroundings, 'IBM Cloud', address, {
      method: 'POST',
      headers: { accept: 'application/json' },
      form: { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: authentication.apiKey },
    }),
  );
  return { authorization: `Bearer ${token}` };
};
