/** Dialogs: one with a form in it, and one that asks before something cannot be undone. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Form } from './form.ts';
import { Fault } from './states.tsx';

export function FormDialog<V>(props: {
  title: string;
  form: Form<V>;
  action: string;
  onClose(): void;
  size?: string;
  children: ReactNode;
}) {
  const { title, form, action, onClose, size = 'md', children } = props;
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeOnClickOutside={false}>
      <form onSubmit={form.onSubmit} noValidate>
        <Stack gap="md">
          {children}
          {form.fault ? <Fault error={form.fault} /> : null}
          <Group justify="flex-end" gap="xs" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={form.busy}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** A word that must be typed first, for what hits others. */
  typed?: string;
  run(): Promise<unknown>;
  onClose(): void;
}

export function Confirm({ title, children, action, typed, run, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const ready = typed === undefined || text.trim() === typed.trim();
  const confirm = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setFault(null);
    try {
      await run();
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={title} role="alertdialog" size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <Stack gap="md">
          <Text size="sm" component="div">
            {children}
          </Text>
          {typed !== undefined && (
            <TextInput
              label={`Type “${typed}” to confirm`}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {fault ? <Fault error={fault} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose} {...(typed === undefined && { 'data-autofocus': true })}>
              Cancel
            </Button>
            <Button type="submit" color="red.8" disabled={!ready} loading={busy}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
