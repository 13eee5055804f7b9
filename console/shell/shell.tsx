/** What surrounds every page: the header, the navigation, and the way past them for keyboards. */
import { AppShell, Burger, Group, ScrollArea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { usePath } from '../router/router.tsx';
import { NoticeProvider } from '../ui/notice.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Navigation } from './navigation.tsx';
import { OrganisationSwitcher } from './organisation-switcher.tsx';
import { SchemeToggle } from './scheme-toggle.tsx';

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = usePath();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes whenever the page changes.
  useEffect(close, [path]);
  useFocusOnTitle(path);
  return (
    <NoticeProvider>
      <a className="gw-skip" href="#content">
        Skip to the content
      </a>
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        padding={{ base: 'md', sm: 'xl' }}
      >
        <AppShell.Header>
          <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
            <Group gap="xs" wrap="nowrap" miw={0}>
              <Burger
                opened={opened}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
              />
              <OrganisationSwitcher />
            </Group>
            <Group gap={4} wrap="nowrap">
              <SchemeToggle />
              <AccountMenu />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="sm" component="nav" aria-label="Main">
          <AppShell.Section grow component={ScrollArea}>
            <Navigation />
          </AppShell.Section>
        </AppShell.Navbar>
        <AppShell.Main id="content">{children}</AppShell.Main>
      </AppShell>
    </NoticeProvider>
  );
}

/** A new page is announced by its title; a tab of the same page keeps the focus where it is. */
function useFocusOnTitle(path: string): void {
  const page = path.startsWith('/workspaces/') ? path.split('/', 3).join('/') : path.split('/', 2).join('/');
  const last = useRef(page);
  useEffect(() => {
    if (last.current === page) return;
    last.current = page;
    document.getElementById('page-title')?.focus({ preventScroll: true });
  }, [page]);
}
