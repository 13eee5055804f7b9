/** Who is signed in, and the ways in and out. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { ApiFault, call, rememberSession, segment, whenSessionEnds } from './client.ts';
import { queryClient, useAction } from './query.ts';
import type { InviteCard, List, OrganisationMembership, Scope, Self } from './types.ts';

async function readSelf(signal: AbortSignal): Promise<Self | null> {
  try {
    const self = await call<Self>('GET', '/auth/self', { signal });
    const known = queryClient.getQueryData<Self | null>(['self']);
    if (known && known.organisation.id !== self.organisation.id) forgetOrganisation();
    rememberSession({ csrfToken: self.csrf_token, organisationId: self.organisation.id });
    return self;
  } catch (error) {
    if (error instanceof ApiFault && error.status === 401) {
      rememberSession(null);
      return null;
    }
    throw error;
  }
}

/** Everything kept belongs to the organisation left behind. */
const forgetOrganisation = () =>
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'self' || queryKey.length > 1 });

/** Null while nobody is signed in. Asked again on every return to the tab: another one may have signed out or switched. */
export const useSession = () =>
  useQuery({
    queryKey: ['self'],
    queryFn: ({ signal }) => readSelf(signal),
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
  });

whenSessionEnds(() => queryClient.setQueryData(['self'], null));

/** The signed-in person; only for pages behind the sign-in. */
export function useSelf(): Self {
  const { data } = useSession();
  if (!data) throw new Error('This page needs somebody signed in');
  return data;
}

/** More workspaces than this are not asked about one by one; the service still refuses what is not allowed. */
const workspacesAsked = 20;

interface Rights {
  /** In the organisation, or in at least one workspace. */
  somewhere(scope: Scope): boolean;
  in(workspaceId: string, scope: Scope): boolean;
}

/** What the signed-in person may do. Owners and admins hold their scopes everywhere; others in each workspace apart. */
export function useRights(): Rights {
  const self = useSelf();
  const runs = self.organisation.role !== 'member';
  const asked = runs ? [] : self.workspaces.slice(0, workspacesAsked);
  return useQueries({
    queries: asked.map(({ id }) => ({
      queryKey: ['self', id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call<Self>('GET', '/auth/self', { query: { workspace_id: id }, signal }),
      staleTime: 60_000,
    })),
    combine: (answers) => {
      const general = new Set(self.scopes);
      const there = new Map(asked.map(({ id }, at) => [id, new Set(answers[at]?.data?.scopes)]));
      return {
        somewhere: (scope) => general.has(scope) || [...there.values()].some((scopes) => scopes.has(scope)),
        in: (workspaceId, scope) => (runs ? general : there.get(workspaceId))?.has(scope) ?? false,
      };
    },
  });
}

export const useCan = (): ((scope: Scope) => boolean) => useRights().somewhere;

export function useCanIn(workspaceId: string): (scope: Scope) => boolean {
  const rights = useRights();
  return (scope) => rights.in(workspaceId, scope);
}

export const useSignIn = () =>
  useAction(
    (input: { email: string; password: string; organisation_id?: string }) =>
      call('POST', '/auth/login', { body: input }),
    ['self'],
  );

/** How an address signs in. */
export interface WayIn {
  /** Where the identity provider is; null: there is none. */
  redirect_url: string | null;
  /** Whether everybody may use a password; owners always may. */
  password: boolean;
}

export const askWayIn = (email: string, returnTo: string): Promise<WayIn> =>
  call<WayIn>('POST', '/auth/login', { body: { email, ...(isOwnPath(returnTo) && { return_to: returnTo }) } });

const isOwnPath = (path: string): boolean => /^\/(?![/\\])[^\s\\]{0,498}$/.test(path);

export const useResetCard = (token: string) =>
  useQuery({
    queryKey: ['password-reset', token],
    queryFn: ({ signal }) =>
      call<{ email: string; organisation_name: string }>('GET', `/auth/password-resets/${segment(token)}`, { signal }),
    retry: false,
  });

export const useNewPassword = (token: string) =>
  useAction(
    (input: { password: string }) => call('POST', `/auth/password-resets/${segment(token)}`, { body: input }),
    [],
  );

interface OpenSession {
  id: string;
  signed_in_at: string;
  client_ip: string;
  user_agent: string;
  current: boolean;
}

export const useSessions = () =>
  useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => call<List<OpenSession>>('GET', '/auth/sessions', { signal }),
  });

export const useEndSession = () =>
  useAction((input: { id: string }) => call('DELETE', `/auth/sessions/${segment(input.id)}`), ['sessions']);

/** Answers where the session at the identity provider is ended; null: nothing is left to end. */
export async function signOut(): Promise<string | null> {
  try {
    const { redirect_url } = await call<{ redirect_url?: string }>('POST', '/auth/logout', { body: {} });
    return redirect_url ?? null;
  } finally {
    rememberSession(null);
    queryClient.clear();
    queryClient.setQueryData(['self'], null);
  }
}

export const useMyOrganisations = () =>
  useQuery({
    queryKey: ['organisations'],
    queryFn: ({ signal }) => call<List<OrganisationMembership>>('GET', '/admin/organisations', { signal }),
  });

export async function switchOrganisation(organisationId: string): Promise<void> {
  await call('POST', '/auth/switch-organisation', { body: { organisation_id: organisationId } });
  await queryClient.invalidateQueries({ queryKey: ['self'], exact: true });
}

export const useInviteCard = (token: string) =>
  useQuery({
    queryKey: ['invite-card', token],
    queryFn: ({ signal }) => call<InviteCard>('GET', `/invites/${segment(token)}`, { signal }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

interface Acceptance {
  first_name?: string;
  last_name?: string;
  password?: string;
}

export const useAcceptInvite = (token: string) =>
  useAction(
    (input: Acceptance) =>
      call<{ organisation_id: string }>('POST', `/invites/${segment(token)}/accept`, { body: input }),
    ['self'],
  );

export const useSaveProfile = () =>
  useAction(
    (input: { first_name: string; last_name: string }) => call('PUT', '/auth/profile', { body: input }),
    ['self', 'users', 'members'],
  );

export const useChangePassword = () =>
  useAction(
    (input: { current_password: string; new_password: string }) => call('PUT', '/auth/password', { body: input }),
    [],
  );
