/** Services that exchange a credential that lives long for a token that does not; the provider says how they are asked. */
import type { Authorise } from './authorise.ts';
import { askToken } from './token-service.ts';

export const exchangeToken: Authorise<'exchange'> = async (authentication, _request, around) => {
  const { service, url, method, headers, idHeader, form } = authentication;
  const token = await around.tokens.get(authentication, () =>
    askToken(around, service, url, {
      method,
      headers: { accept: 'application/json', ...headers, ...(idHeader && { [idHeader]: crypto.randomUUID() }) },
      ...(form && { form }),
    }),
  );
  return { authorization: `Bearer ${token}` };
};
