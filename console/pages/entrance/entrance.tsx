/** The frame of the pages before the sign-in: the mark, a card, nothing else. */
import { Box, Center, Image, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import mark from '../../icon.svg';
import { SchemeToggle } from '../../shell/scheme-toggle.tsx';

export function Entrance({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · gw`;
  }, [title]);
  return (
    <Box component="main" mih="100vh" p="md" pos="relative">
      <Box pos="absolute" top={12} right={12}>
        <SchemeToggle />
      </Box>
      <Center mih="calc(100vh - 32px)">
        <Stack gap="lg" w="100%" maw={400} pb={48}>
          <Stack gap={6} align="center" ta="center">
            <Image src={mark} alt="gw" w={44} h={44} radius={0} mb={6} />
            <Title order={1}>{title}</Title>
            {lead && (
              <Text size="sm" c="dimmed">
                {lead}
              </Text>
            )}
          </Stack>
          <Paper p={{ base: 'md', sm: 'lg' }}>{children}</Paper>
        </Stack>
      </Center>
    </Box>
  );
}
