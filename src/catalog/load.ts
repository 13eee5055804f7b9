/** The catalog in memory: a workspace is read when it is first asked for, kept while nobody changes it, and forgotten when it is long unused. */
import type { Clock } from '../clock.ts';
import type { Change, ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import { StaleCache } from '../store/stale-cache.ts';
import type { Vault } from '../store/vault.ts';
import type { Catalog, WorkspaceCatalog } from './catalog.ts';
import { readWorkspace } from './read-workspace.ts';

interface CatalogOptions {
  /** How many workspaces are kept in memory. */
  capacity: number;
  /** How long workspaces in memory count while the database cannot be reached. */
  outageGraceMs?: number;
  /** False: the operator has switched guardrails off. */
  guardrails?: boolean;
  /** Told of what is saved and cannot be used. */
  warn?: (message: string) => void;
}

/** A workspace that is being read for all who ask meanwhile. */
interface Reading {
  answer: Promise<WorkspaceCatalog | null>;
  /** Ids that changes named since; one of them may be the organisation's, which is not known yet. */
  overtakenBy: Set<string>;
}

export function createCatalog(
  { db }: Pick<Store, 'db'>,
  feed: ChangeFeed,
  vault: Vault,
  clock: Clock,
  { capacity, outageGraceMs = 0, guardrails = true, warn = () => undefined }: CatalogOptions,
): Catalog {
  /** In the order of use: the one that was used longest ago comes first. */
  const known = new Map<string, WorkspaceCatalog>();
  const readings = new Map<string, Reading>();
  const suspect = new StaleCache<WorkspaceCatalog>(feed, () => performance.now(), outageGraceMs);

  feed.subscribe((changes) => {
    const touched = changes === 'all' ? 'all' : idsOf(changes);
    if (touched === 'all') {
      suspect.markStale(known);
      known.clear();
      readings.clear();
      return;
    }
    if (touched.size === 0) return;
    forget(known, touched);
    for (const [workspaceId, reading] of readings) {
      // Whoever asks from now on must see the change, so that it starts anew.
      if (touched.has(workspaceId)) readings.delete(workspaceId);
      else for (const id of touched) reading.overtakenBy.add(id);
    }
  });

  /** Ends a reading; true when it was not overtaken by a change of its workspace. */
  const end = (workspaceId: string, reading: Reading): boolean =>
    readings.get(workspaceId) === reading && readings.delete(workspaceId);

  const read = (workspaceId: string): Promise<WorkspaceCatalog | null> => {
    // Ending and remembering happen in one step: a change between the two would be missed by both.
    const settle = (workspace: WorkspaceCatalog | null) => {
      const valid = end(workspaceId, reading);
      if (!workspace) return null;
      // Some may have joined after the change, and only now it is known that it was one of this organisation.
      if (reading.overtakenBy.has(workspace.organisationId)) {
        return readings.get(workspaceId)?.answer ?? read(workspaceId);
      }
      if (valid && feed.live) remember(known, workspace, capacity);
      return workspace;
    };
    const fail = (fault: unknown) => {
      end(workspaceId, reading);
      throw fault;
    };
    const reading: Reading = {
      overtakenBy: new Set(),
      answer: readWorkspace(db, vault, workspaceId, clock.now(), warn).then(
        (found) => settle(found && (guardrails ? found : unguarded(found))),
        fail,
      ),
    };
    readings.set(workspaceId, reading);
    return reading.answer;
  };

  return {
    workspace(workspaceId) {
      const workspace = feed.live ? known.get(workspaceId) : undefined;
      if (!workspace) {
        const ask = () => readings.get(workspaceId)?.answer ?? read(workspaceId);
        return suspect.read(workspaceId, ask, (copy): WorkspaceCatalog | null => copy);
      }
      // The order of use matters only to who must make room, and keeping it costs a call more than finding the workspace.
      if (known.size >= capacity) {
        known.delete(workspaceId);
        known.set(workspaceId, workspace);
      }
      return workspace;
    },
  };
}

const unguarded = (workspace: WorkspaceCatalog): WorkspaceCatalog => ({
  ...workspace,
  guardrails: { ...workspace.guardrails, isOff: true },
});

/** The organisations and workspaces whose catalog a change concerns. */
const idsOf = (changes: readonly Change[]): Set<string> =>
  new Set(changes.filter(({ topic }) => topic !== 'user' && topic !== 'api_key').map(({ id }) => id));

function remember(known: Map<string, WorkspaceCatalog>, workspace: WorkspaceCatalog, capacity: number): void {
  if (known.size >= capacity) {
    const [oldest] = known.keys();
    if (oldest !== undefined) known.delete(oldest);
  }
  known.set(workspace.workspaceId, workspace);
}

function forget(known: Map<string, WorkspaceCatalog>, touched: ReadonlySet<string>): void {
  for (const { workspaceId, organisationId } of known.values()) {
    if (touched.has(workspaceId) || touched.has(organisationId)) known.delete(workspaceId);
  }
}
