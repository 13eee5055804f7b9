/** What stands before every look at a password: its turn, and the device that was known before. */
import { tooMany } from '../../http/errors.ts';
import { readCookie } from '../../identity/authenticate.ts';
import type { LoginAttempt } from '../../identity/login-throttle.ts';
import { digestOf } from '../../identity/secrets.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';

const deviceCookie = 'gw_device';
const devicePurpose = 'known-device';
const deviceDays = 180;

/** Waits for the attempt's turn; refuses it where too many wait already. */
export async function takeTurn(services: Services, exchange: Exchange, email: string): Promise<LoginAttempt> {
  const attempt = { email, clientIp: exchange.clientIp, device: knownDevice(services, exchange, email) };
  const admission = services.loginThrottle.admit(attempt);
  if ('againInSeconds' in admission) {
    const { againInSeconds } = admission;
    throw tooMany(againInSeconds, `Too many wrong passwords; try again in ${againInSeconds} seconds`);
  }
  if (admission.afterMs > 0) await Bun.sleep(admission.afterMs);
  return attempt;
}

/** The cookie by which a device is known again after a sign-in. It opens nothing by itself. */
export function deviceMark({ vault, clock }: Services, exchange: Exchange, email: string): string {
  const until = new Date(clock.now().getTime() + deviceDays * 86_400_000).toISOString();
  const mark = vault.seal(JSON.stringify([email, until]), devicePurpose);
  const secure = exchange.origin.startsWith('https:') ? '; Secure' : '';
  return `${deviceCookie}=${mark}; Path=/v1/auth; HttpOnly; SameSite=Lax; Max-Age=${deviceDays * 86_400}${secure}`;
}

function knownDevice({ vault, clock }: Services, { headers }: Exchange, email: string): string | null {
  const mark = readCookie(headers.get('cookie') ?? '', deviceCookie);
  if (!mark) return null;
  try {
    const [owner, until] = JSON.parse(vault.open(mark, devicePurpose));
    return owner === email && until > clock.now().toISOString() ? digestOf(mark) : null;
  } catch {
    // Not ours, or of another master key: a device like any other.
    return null;
  }
}
