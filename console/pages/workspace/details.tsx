/** What a workspace is, what it may use, and what it adds to every request. */
import { SimpleGrid, Text } from '@mantine/core';
import type { Workspace } from '../../api/types.ts';
import { Identifier } from '../../ui/copy.tsx';
import { Limits } from '../../ui/limits/summary.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Facts, Section } from '../../ui/page.tsx';

export function Details({ workspace }: { workspace: Workspace }) {
  const metadata = Object.entries(workspace.defaults.metadata);
  return (
    <>
      <Section title="About">
        <Facts
          items={[
            [
              'Description',
              workspace.description || (
                <Text span inherit c="dimmed">
                  None
                </Text>
              ),
            ],
            ['Slug', <Identifier key="slug" value={workspace.slug} label="Copy the slug" />],
            ['Id', <Identifier key="id" value={workspace.id} label="Copy the id" />],
            ['Created', <Moment key="created" at={workspace.created_at} />],
            ['Last changed', <Moment key="changed" at={workspace.last_updated_at} />],
          ]}
        />
      </Section>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Section title="Limits" description="They hold for all keys of the workspace together.">
          <Limits budgets={workspace.usage_limits} rates={workspace.rate_limits} />
        </Section>
        <Section title="Default metadata" description="Added to every request; wins over what keys and requests say.">
          {metadata.length === 0 ? (
            <Text size="sm" c="dimmed">
              None.
            </Text>
          ) : (
            <Facts items={metadata.map(([name, value]) => [name, value])} />
          )}
        </Section>
      </SimpleGrid>
    </>
  );
}
