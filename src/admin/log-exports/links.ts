/** Links to the file of an export: good for an hour, for whoever holds them. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { ApiError, errorResponse } from '../../http/errors.ts';
import type { WebHandler } from '../../http/web.ts';
import { lazy } from '../../lazy.ts';
import { exportFile } from '../../logs/exports/write.ts';
import type { Services } from '../kernel/services.ts';

const validMs = 3_600_000;
const purpose = 'log export link';
const path = /^\/v[12]\/logs\/exports\/([0-9a-f-]{36})\/file$/;
const claims = lazy(() => z.object({ export: z.string(), until: z.number() }));

type LinkServices = Pick<Services, 'store' | 'vault' | 'clock' | 'settings'>;

export function signedLink(
  { vault, clock }: Pick<LinkServices, 'vault' | 'clock'>,
  origin: string,
  id: string,
): string {
  const token = vault.seal(JSON.stringify({ export: id, until: clock.now().getTime() + validMs }), purpose);
  return `${origin}/v1/logs/exports/${id}/file?token=${encodeURIComponent(token)}`;
}

/** Serves the files themselves. */
export const exportDownloads =
  (services: LinkServices): WebHandler =>
  (request) => {
    const url = new URL(request.url);
    const id = request.method === 'GET' || request.method === 'HEAD' ? path.exec(url.pathname)?.[1] : undefined;
    if (!id) return null;
    const requestId = Bun.randomUUIDv7();
    if (!isValid(services, url.searchParams.get('token') ?? '', id)) {
      return errorResponse(new ApiError('AB05', 'This link is wrong or has expired; ask for another'), requestId);
    }
    return fileReply(services, id, requestId);
  };

/** A link ends with its export: the file itself is swept some time later. */
async function fileReply({ store, settings }: LinkServices, id: string, requestId: string): Promise<Response> {
  const file = exportFile(settings.dataDir, id);
  const known = await store.db.selectFrom('log_exports').select('status').where('id', '=', id).executeTakeFirst();
  if (known?.status !== 'success' || !existsSync(file)) {
    return errorResponse(new ApiError('AB08', 'This file is no longer kept; start the export again'), requestId);
  }
  return new Response(Bun.file(file).stream(), {
    headers: {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${id}.jsonl"`,
      'cache-control': 'no-store',
    },
  });
}

function isValid({ vault, clock }: Pick<LinkServices, 'vault' | 'clock'>, token: string, id: string): boolean {
  try {
    const found = claims().safeParse(JSON.parse(vault.open(token, purpose)));
    return found.success && found.data.export === id && found.data.until > clock.now().getTime();
  } catch {
    // What this service did not seal is no link.
    return false;
  }
}
