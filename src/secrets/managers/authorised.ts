/** A call to a cloud's own manager, with a token that may have been taken back since it was got. */
import type { Authentication } from '../../providers/authentication.ts';
import type { ManagerAnswer, ManagerCall, ManagerMeans } from '../manager.ts';

export async function callWithToken(
  means: ManagerMeans,
  authentication: Authentication,
  call: ManagerCall,
): Promise<ManagerAnswer> {
  const once = async () => {
    const token = await means.authorise(authentication, call);
    return means.call({ ...call, headers: { ...call.headers, ...token } });
  };
  const answer = await once();
  if (answer.status !== 401) return answer;
  means.forget(authentication);
  return once();
}
