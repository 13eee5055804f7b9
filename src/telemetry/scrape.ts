/** `GET /metrics`, for this machine, or for whoever holds the token. */
import { timingSafeEqual } from 'node:crypto';
import { ApiError, errorResponse } from '../http/errors.ts';
import type { WebHandler } from '../http/web.ts';

const loopback = /^(127\.|::1$|::ffff:127\.)/;
const forwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

export const metricsEndpoint =
  (token: string | null, answer: () => Promise<Response>): WebHandler =>
  async (request, peer) => {
    if (new URL(request.url).pathname !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD'))
      return null;
    const allowed =
      token === null
        ? // Behind a proxy of this machine everybody comes from it.
          loopback.test(peer()) && !forwarded.some((name) => request.headers.has(name))
        : isToken(request.headers.get('authorization') ?? '', token);
    if (!allowed) {
      const words = 'Metrics are open to this machine alone; set METRICS_TOKEN and send it as a bearer token';
      return errorResponse(new ApiError(token === null ? 'AB03' : 'AB05', words), Bun.randomUUIDv7());
    }
    return answer();
  };

function isToken(header: string, token: string): boolean {
  const [sent, known] = [Buffer.from(header), Buffer.from(`Bearer ${token}`)];
  return sent.length === known.length && timingSafeEqual(sent, known);
}
