/** The first steps, with a command to try; each links to the page where it is done. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCan } from '../../api/session.ts';
import type { Scope } from '../../api/types.ts';
import { Link } from '../../router/router.tsx';
import { Command } from '../../ui/copy.tsx';
import { Section } from '../../ui/page.tsx';

interface Step {
  title: string;
  text: string;
  action: string;
  href: string;
  needs: Scope;
}

const steps: readonly Step[] = [
  {
    title: 'Make a workspace',
    text: 'One for each team or project keeps keys, budgets and logs apart.',
    action: 'Workspaces',
    href: '/workspaces',
    needs: 'workspaces.create',
  },
  {
    title: 'Invite people',
    text: 'They choose their own password; you choose what they reach.',
    action: 'Invite',
    href: '/invites?new=1',
    needs: 'organisation_users.create',
  },
  {
    title: 'Create an API key',
    text: 'A workspace key for a program, or a user key for a person.',
    action: 'New key',
    href: '/api-keys?new=1',
    needs: 'workspace_user_api_keys.create',
  },
];

export function NextSteps({ gatewayUrl }: { gatewayUrl: string | null }) {
  const can = useCan();
  const base = gatewayUrl ?? `${window.location.origin}/v1`;
  const open = steps.filter(({ needs }) => can(needs));
  const command = [
    `curl ${base}/chat/completions`,
    '-H "x-gw-api-key: $GW_API_KEY"',
    '-H "content-type: application/json"',
    `-d '{"model": "@sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join(' \\\n  ');
  return (
    <Section title="What to do next">
      <Stack gap="md">
        {open.map((step, at) => (
          <StepRow key={step.title} number={at + 1} title={step.title} text={step.text}>
            <Button component={Link} href={step.href} variant="default" size="xs" style={{ flexShrink: 0 }}>
              {step.action}
            </Button>
          </StepRow>
        ))}
        <StepRow
          number={open.length + 1}
          title="Call the API"
          text="Put the secret of a workspace or user key into the variable. The sandbox answers without any provider."
        />
        <Command label="call the API" text={command} />
        <Text size="sm" c="dimmed">
          Every endpoint is described in the{' '}
          <Anchor href="/docs" inherit underline="always">
            reference
          </Anchor>
          .
        </Text>
      </Stack>
    </Section>
  );
}

function StepRow(props: { number: number; title: string; text: string; children?: ReactNode }) {
  const { number, title, text, children } = props;
  return (
    <Group justify="space-between" wrap="nowrap" gap="md" align="flex-start">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <span className="gw-step" aria-hidden="true">
          {number}
        </span>
        <div>
          <Text size="sm" fw={550}>
            {title}
          </Text>
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        </div>
      </Group>
      {children}
    </Group>
  );
}
