/** What the last action did, told once at the top of the page and read out by screen readers. */
import { Alert } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { usePath } from '../router/router.tsx';
import { Icon } from './icons.tsx';

interface Notices {
  text: string | null;
  tell(text: string): void;
  clear(): void;
}

const NoticeContext = createContext<Notices>({ text: null, tell: () => undefined, clear: () => undefined });

export function NoticeProvider({ children }: { children: ReactNode }) {
  const [notice, setNotice] = useState<{ text: string; path: string } | null>(null);
  const path = usePath();
  const value = useMemo(
    () => ({
      text: notice?.text ?? null,
      tell: (text: string) => setNotice({ text, path: window.location.pathname }),
      clear: () => setNotice(null),
    }),
    [notice],
  );
  // A notice belongs to the page on which it was told.
  useEffect(() => setNotice((current) => (current?.path === path ? current : null)), [path]);
  return <NoticeContext value={value}>{children}</NoticeContext>;
}

export const useTell = (): ((text: string) => void) => useContext(NoticeContext).tell;

export function Notice() {
  const { text, clear } = useContext(NoticeContext);
  return (
    <div role="status" aria-live="polite">
      {text && (
        <Alert
          color="teal"
          icon={<Icon name="check" />}
          withCloseButton
          closeButtonLabel="Dismiss"
          onClose={clear}
          mb="md"
          py="xs"
        >
          {text}
        </Alert>
      )}
    </div>
  );
}
