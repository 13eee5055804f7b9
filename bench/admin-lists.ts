/** The lists of a store as `fill` makes it, and how long a page of one takes over HTTP. */
import type { Filled } from './admin-store.ts';

/** What is asked for, or how to say it at the moment of asking. */
export type Path = string | (() => string);

/** Every list that the store fills, with every order and every kind of filter, at the page that costs most. */
export function lists({ workspaceId, ownerId }: Filled): [what: string, path: Path][] {
  const ofKeys = (what: string, query: string): [string, Path] => [`keys${what}`, `/v1/api-keys?page_size=50${query}`];
  const middle = '&current_page=1000';
  const year = new Date().getFullYear();
  const audit = `/v1/audit-logs?start_time=${year}-01-01T00:00:00Z&end_time=${year}-12-31T23:59:59Z`;
  const members = `/v1/workspaces/${workspaceId}/users?page_size=50`;
  return [
    ofKeys(', first page', ''),
    ofKeys(', page 1,000', middle),
    ofKeys(', last page', '&current_page=2000'),
    ofKeys(' by expiry, page 1,000', `${middle}&sort_by=expires_at`),
    ofKeys(' by change, page 1,000', `${middle}&sort_by=last_updated_at&order=asc`),
    ofKeys(' by name, page 1,000', `${middle}&sort_by=name`),
    ofKeys(' of a workspace, page 1,000', `${middle}&workspace_id=${workspaceId}`),
    ofKeys(' of a type, page 400', '&current_page=400&type=service'),
    ofKeys(' of a type that is rare', '&type=organisation-service'),
    ofKeys(' of a state, page 1,000', `${middle}&status=active`),
    ofKeys(' of a state that none has', '&status=expired'),
    ofKeys(' of one owner of 40,000, page 400', `&current_page=400&user_id=${ownerId}`),
    ofKeys(' of one owner of 40,000 by name, page 400', `&current_page=400&user_id=${ownerId}&sort_by=name`),
    ofKeys(', search that finds 20', '&search=9999'),
    ofKeys(', search that finds 20, by name', '&search=9999&sort_by=name'),
    ofKeys(', search that finds nothing', '&search=nowhere'),
    ofKeys(', search that finds all', '&search=BUILD'),
    ofKeys(', search that finds all, page 1,000', `${middle}&search=build`),
    ['users, first page', '/v1/admin/users?pageSize=50'],
    ['users, page 100', '/v1/admin/users?pageSize=50&currentPage=100'],
    ['users, last page', '/v1/admin/users?pageSize=50&currentPage=199'],
    ['users of a role, page 100', '/v1/admin/users?pageSize=50&currentPage=100&role=member'],
    ['users by address', '/v1/admin/users?pageSize=50&email=person77@example.com'],
    ['members, page 100', `${members}&current_page=100`],
    ['members of a role, page 100', `${members}&current_page=100&role=member`],
    ['members, search that finds 20', `${members}&search=999`],
    ['members, search that finds all, page 100', `${members}&current_page=100&search=Example.com`],
    ['workspaces', '/v1/admin/workspaces?page_size=50'],
    ['invites, page 100', '/v1/admin/users/invites?page_size=50&current_page=100'],
    ['invites of a state, page 100', '/v1/admin/users/invites?page_size=50&current_page=100&status=accepted'],
    ['audit rows, first page', audit],
    ['audit rows, page 1,000', `${audit}&current_page=1000`],
    ['audit rows of an action, page 1,000', `${audit}&current_page=1000&resource_type=api_key&action=create`],
    ['audit rows of an action that is rare', `${audit}&action=login`],
    ['audit rows by path', `${audit}&uri=nowhere`],
    ['audit rows of a week until now, page 1,000', () => `${lastWeek()}&current_page=1000`],
  ];
}

const weekMs = 7 * 86_400_000;

/** As the console asks: every time for another range. */
function lastWeek(): string {
  const now = Date.now();
  const [start, end] = [now - weekMs, now].map((time) => new Date(time).toISOString());
  return `/v1/audit-logs?start_time=${start}&end_time=${end}`;
}

/** How long each of so many askings for a page took. */
export async function timesOf(url: string, adminKey: string, path: Path, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const start = performance.now();
    const asked = typeof path === 'string' ? path : path();
    const response = await fetch(url + asked, { headers: { 'x-gw-api-key': adminKey } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${asked} answered ${response.status}`);
    times.push(performance.now() - start);
  }
  return times;
}
