/** The last resort: a fault of the console itself shows a page that says so, not an empty one. */
import { Button, Center, Stack } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { Fault } from './states.tsx';

export class Catch extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Center mih="100vh" p="md">
        <Stack maw={520}>
          <Fault error={this.state.error} title="The console met a fault of its own" />
          <Button onClick={() => window.location.assign('/')}>Start over</Button>
        </Stack>
      </Center>
    );
  }
}
