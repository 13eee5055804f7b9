import { afterEach, beforeEach, expect, test } from 'bun:test';
import { json } from '../../../test/providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../../../test/providers/token-services.ts';

let services: TokenServices;
beforeEach(async () => {
  services = await startTokenServices();
});
afterEach(() => services.service.stop());

const authentication = { kind: 'ibm', apiKey: 'key-1' } as const;
const request = { url: 'https://us-south.ml.cloud.ibm.com/ml/v1/text/chat', method: 'POST', headers: {}, body: null };
const { signal } = new AbortController();

test('an API key is exchanged once for a token that many calls carry', async () => {
  const credentials = services.credentials();
  for (const _ of [1, 2]) {
    expect(await credentials.authorise(authentication, request, signal)).toEqual({ authorization: 'Bearer token-1' });
  }
  expect(services.service.calls.map(({ path }) => path)).toEqual(['/identity/token']);
  expect(Object.fromEntries(services.asked[0] ?? [])).toEqual({
    grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
    apikey: 'key-1',
  });
});

test('a key that is unknown is refused in the words of the service', async () => {
  services.service.script(json(400, { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.' }));
  const refused = services.credentials().authorise(authentication, request, signal);
  await expect(refused).rejects.toMatchObject({ status: 401 });
  await expect(refused).rejects.toThrow('Provided API key could not be found.');
});
