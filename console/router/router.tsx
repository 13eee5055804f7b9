/** Pages by address: where the browser is, how to go elsewhere, and links that do so without loading the console again. */
import { type ComponentProps, type MouseEvent, useCallback, useSyncExternalStore } from 'react';

const moved = 'gw:moved';

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  window.addEventListener(moved, listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener(moved, listener);
  };
}

export const usePath = (): string => useSyncExternalStore(subscribe, () => window.location.pathname);

export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
  const address = new URL(to, window.location.origin);
  // Only this console's own pages: an address that came in a query must not lead elsewhere.
  if (address.origin !== window.location.origin) return;
  if (how === 'push') window.history.pushState(null, '', address);
  else window.history.replaceState(null, '', address);
  window.dispatchEvent(new Event(moved));
  if (how === 'push') window.scrollTo(0, 0);
}

/** A field of the query, kept in the address so that a filtered list can be shared and survives a reload. */
export function useSearchField(name: string): [string, (value: string) => void] {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  const value = new URLSearchParams(search).get(name) ?? '';
  const set = useCallback((next: string) => setSearch({ [name]: next }), [name]);
  return [value, set];
}

/** Sets or, with an empty value, removes fields of the query. */
export function setSearch(fields: Record<string, string>): void {
  const params = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') params.delete(name);
    else params.set(name, value);
  }
  const text = params.toString();
  navigate(`${window.location.pathname}${text ? `?${text}` : ''}`, 'replace');
}

/** A page of a list, counted from 0 and kept in the address counted from 1. */
export function usePageIndex(): [number, (index: number) => void] {
  const [text, set] = useSearchField('page');
  const index = Math.max(0, Math.trunc(Number(text) || 1) - 1);
  return [index, (next) => set(next === 0 ? '' : String(next + 1))];
}

export function Link({ href, onClick, ...rest }: ComponentProps<'a'> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !plain || rest.target) return;
    event.preventDefault();
    navigate(href);
  };
  return <a {...rest} href={href} onClick={follow} />;
}
