/** Dialogs: one with a form in it, and one that asks before something cannot be undone. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { CopyField } from './copy.tsx';
import type { Form } from './form.ts';
import { Fault } from './states.tsx';

/** A dialog that goes gives the focus back to what opened it, or, where that is gone too, to the page's title. */
export function useReturnedFocus(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // The dialog's own trap lets go of the focus first.
      setTimeout(() => {
        if (document.querySelector('[aria-modal="true"]')) return;
        const back = opener instanceof HTMLElement && opener.isConnected && opener !== document.body ? opener : null;
        (back ?? document.getElementById('page-title'))?.focus({ preventScroll: true });
      }, 200);
    },
    [opener],
  );
}

export function FormDialog<V>(props: {
  title: string;
  form: Form<V>;
  action: string;
  onClose(): void;
  size?: string;
  children: ReactNode;
}) {
  const { title, form, action, onClose, size = 'md', children } = props;
  useReturnedFocus();
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

/** A link that is shown once, to be handed over. */
export function LinkDialog(props: { title: string; text: string; label: string; link: string; onClose(): void }) {
  const { title, text, label, link, onClose } = props;
  useReturnedFocus();
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm">{text}</Text>
        <CopyField label={label} value={link} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
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
  useReturnedFocus();
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
