/** Things to take away: secrets, links and commands, each with a button that copies it. */
import { ActionIcon, Box, Button, Code, Group, TextInput, Tooltip } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';

/** Copies, and says for a moment that it did; without the browser's permission it selects the text instead. */
function useCopy(value: string, select: () => void) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setCopied(false), 1800);
    } catch {
      select();
    }
  };
  return { copied, copy };
}

export function CopyField({ label, value, description }: { label: string; value: string; description?: string }) {
  const input = useRef<HTMLInputElement>(null);
  const { copied, copy } = useCopy(value, () => input.current?.select());
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        ref={input}
        label={label}
        {...(description && { description })}
        value={value}
        readOnly
        flex={1}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button
        variant={copied ? 'light' : 'filled'}
        leftSection={<Icon name={copied ? 'check' : 'copy'} size={16} />}
        onClick={() => void copy()}
        w={112}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </Group>
  );
}

function CopyIcon({ value, label }: { value: string; label: string }) {
  const { copied, copy } = useCopy(value, () => undefined);
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon size="sm" aria-label={label} onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} size={15} />
      </ActionIcon>
    </Tooltip>
  );
}

/** A name of the wire, such as an id, to read and to copy. */
export const Identifier = ({ value, label = 'Copy the id' }: { value: string; label?: string }) => (
  <Group gap={4} wrap="nowrap">
    <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
    <CopyIcon value={value} label={label} />
  </Group>
);

export function Command({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null);
  const { copied, copy } = useCopy(text, () => code.current && window.getSelection()?.selectAllChildren(code.current));
  return (
    <Box pos="relative">
      <Code block ref={code} className="gw-command">
        {text}
      </Code>
      <Button
        size="compact-xs"
        variant="default"
        pos="absolute"
        top={8}
        right={8}
        aria-label={`Copy: ${label}`}
        leftSection={<Icon name={copied ? 'check' : 'copy'} size={13} />}
        onClick={() => void copy()}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </Box>
  );
}
