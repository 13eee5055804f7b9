/** Times: near ones as a distance, far ones as a date, always with the exact moment at hand. */
import { Text, Tooltip } from '@mantine/core';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const dateOnly = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

function distance(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  if (Math.abs(seconds) >= 30 * 86_400) return dateOnly.format(new Date(iso));
  const step = steps.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : 'just now';
}

export const exact = (iso: string): string => exactly.format(new Date(iso));

export function Moment({ at, never = '–' }: { at: string | null | undefined; never?: string }) {
  if (!at || Number.isNaN(Date.parse(at))) {
    return (
      <Text span size="sm" c="dimmed">
        {never}
      </Text>
    );
  }
  return (
    <Tooltip label={exact(at)}>
      <Text span size="sm" component="time" dateTime={at} className="gw-numbers" style={{ whiteSpace: 'nowrap' }}>
        {distance(at)}
      </Text>
    </Tooltip>
  );
}
