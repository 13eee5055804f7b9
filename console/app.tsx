/** Decides what stands on screen: the sign-in, an invite, or a page inside the shell. */
import { Button, Center, Loader } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { RouteTable } from '../src/http/routes.ts';
import { useSession } from './api/session.ts';
import { AccountPage } from './pages/account/page.tsx';
import { ApiKeysPage } from './pages/api-keys/page.tsx';
import { AuditPage } from './pages/audit/page.tsx';
import { AcceptInvitePage } from './pages/entrance/accept-invite.tsx';
import { ResetPasswordPage } from './pages/entrance/reset-password.tsx';
import { SignInPage } from './pages/entrance/sign-in.tsx';
import { InvitesPage } from './pages/invites/page.tsx';
import { NoticesPage } from './pages/notices/page.tsx';
import { OverviewPage } from './pages/overview/page.tsx';
import { SettingsPage } from './pages/settings/page.tsx';
import { UsersPage } from './pages/users/page.tsx';
import { WorkspacePage } from './pages/workspace/page.tsx';
import { WorkspacesPage } from './pages/workspaces/page.tsx';
import type { PagePath } from './paths.ts';
import { Link, navigate, usePath } from './router/router.tsx';
import { Shell } from './shell/shell.tsx';
import { Page } from './ui/page.tsx';
import { Empty, Fault } from './ui/states.tsx';

type Render = (params: Record<string, string>) => ReactNode;

const open: Partial<Record<PagePath, Render>> = {
  '/invites/:token': ({ token = '' }) => <AcceptInvitePage token={token} />,
  '/reset-password/:token': ({ token = '' }) => <ResetPasswordPage token={token} />,
};

const guarded: Record<Exclude<PagePath, '/login' | '/invites/:token' | '/reset-password/:token'>, Render> = {
  '/': () => <OverviewPage />,
  '/workspaces': () => <WorkspacesPage />,
  '/workspaces/:workspaceId': ({ workspaceId = '' }) => <WorkspacePage id={workspaceId} tab="details" />,
  '/workspaces/:workspaceId/:tab': ({ workspaceId = '', tab = '' }) => <WorkspacePage id={workspaceId} tab={tab} />,
  '/users': () => <UsersPage />,
  '/invites': () => <InvitesPage />,
  '/api-keys': () => <ApiKeysPage />,
  '/audit-logs': () => <AuditPage />,
  '/notices': () => <NoticesPage />,
  '/settings': () => <SettingsPage tab="general" />,
  '/settings/:tab': ({ tab = '' }) => <SettingsPage tab={tab} />,
  '/account': () => <AccountPage />,
};

const openPages = tableOf(open);
const guardedPages = tableOf(guarded);

function tableOf(pages: Record<string, Render>): RouteTable<Render> {
  const table = new RouteTable<Render>();
  for (const [path, render] of Object.entries(pages)) table.add('GET', path, render);
  return table;
}

function pageAt(table: RouteTable<Render>, path: string): ReactNode | null {
  const match = table.match('GET', path);
  return match.found === 'route' ? match.value(match.params) : null;
}

export function App() {
  const path = usePath();
  const entrance = pageAt(openPages, path);
  return entrance ?? <Guarded path={path} />;
}

function Guarded({ path }: { path: string }) {
  const session = useSession();
  const atSignIn = path === '/login';
  const signedIn = Boolean(session.data);
  useEffect(() => {
    if (atSignIn && signedIn) navigate(wanted(), 'replace');
  }, [atSignIn, signedIn]);

  if (session.isPending || (atSignIn && signedIn)) return <Waiting />;
  if (session.error) {
    return (
      <Center mih="100vh" p="md">
        <Fault error={session.error} retry={() => void session.refetch()} />
      </Center>
    );
  }
  if (!session.data) return <SignInPage />;
  // A page of one organisation has nothing to say about another: switching starts all of it anew.
  return <Shell key={session.data.organisation.id}>{pageAt(guardedPages, path) ?? <NoSuchPage />}</Shell>;
}

/** Where the visitor was going when the sign-in came in between. */
function wanted(): string {
  const next = new URLSearchParams(window.location.search).get('next') ?? '/';
  return next.startsWith('/') && !next.startsWith('//') ? next : '/';
}

function Waiting() {
  return (
    <Center mih="100vh">
      <Loader aria-label="Loading the console" />
    </Center>
  );
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <Empty
        icon="search"
        title="There is nothing at this address"
        action={
          <Button component={Link} href="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        The link may be old, or the address mistyped.
      </Empty>
    </Page>
  );
}
