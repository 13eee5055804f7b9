/** Where the person is signed in to this organisation, each with a way to end it. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useEndSession, useSessions } from '../../api/session.ts';
import { Moment } from '../../ui/moment.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';

export function Sessions() {
  const sessions = useSessions();
  const end = useEndSession();
  const tell = useTell();
  return (
    <Section title="Sessions" description="Where you are signed in to this organisation.">
      {sessions.error && <Fault error={sessions.error} />}
      {end.error && <Fault error={end.error} title="The session was not ended" />}
      <Stack gap={0}>
        {(sessions.data?.data ?? []).map((session) => (
          <Group key={session.id} justify="space-between" wrap="nowrap" py={8} className="gw-line">
            <div style={{ minWidth: 0 }}>
              <Text size="sm" className="gw-clip">
                {session.user_agent || 'Unknown program'}
              </Text>
              <Text size="xs" c="dimmed">
                {session.client_ip} · signed in <Moment at={session.signed_in_at} />
              </Text>
            </div>
            {session.current ? (
              <Text size="sm" c="dimmed">
                This one
              </Text>
            ) : (
              <Button
                size="xs"
                variant="default"
                aria-label={`End the session from ${session.client_ip}`}
                onClick={() => end.mutate({ id: session.id }, { onSuccess: () => tell('The session has ended.') })}
              >
                End
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
