/** Rate limits: the rows of a form, and the same in words. */
import { ActionIcon, Button, NumberInput, Select, Stack, Text } from '@mantine/core';
import type { RateLimit } from '../../api/types.ts';
import type { FieldErrors } from '../form.ts';
import { Icon } from '../icons.tsx';

export interface RateRow {
  key: string;
  type: RateLimit['type'];
  unit: RateLimit['unit'];
  value: number | string;
}

const units: Record<RateLimit['unit'], string> = { rpm: 'minute', rph: 'hour', rpd: 'day', rpw: 'week' };
const unitChoices = (Object.keys(units) as RateLimit['unit'][]).map((value) => ({
  value,
  label: `per ${units[value]}`,
}));
const typeChoices: { value: RateLimit['type']; label: string }[] = [
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
];
const mostRows = 8;

export const rateRows = (limits: readonly RateLimit[]): RateRow[] =>
  limits.map((limit) => ({ ...limit, key: `${limit.type}-${limit.unit}` }));

export const rateLimitsOf = (rows: readonly RateRow[]): RateLimit[] =>
  rows.map(({ type, unit, value }) => ({ type, unit, value: Number(value) }));

export const inWords = ({ type, unit, value }: RateLimit): string =>
  `${value.toLocaleString('en')} ${type} per ${units[unit]}`;

export function checkRates(rows: readonly RateRow[], least: number): FieldErrors {
  const errors: FieldErrors = {};
  rows.forEach((row, at) => {
    const value = Number(row.value);
    if (row.value === '' || !Number.isInteger(value) || value < least) {
      errors[`rate_limits.${at}.value`] = `Enter a whole number of at least ${least}.`;
    }
    if (rows.findIndex(({ type, unit }) => type === row.type && unit === row.unit) !== at) {
      errors[`rate_limits.${at}.value`] = 'There is a limit of this kind already.';
    }
  });
  return errors;
}

export function RateLimitFields(props: {
  rows: readonly RateRow[];
  error(path: string): string | undefined;
  onChange(rows: RateRow[]): void;
}) {
  const { rows, error, onChange } = props;
  const change = (at: number, part: Partial<RateRow>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <Stack gap="xs">
      {rows.map((row, at) => (
        <div key={row.key} className="gw-rate">
          <NumberInput
            aria-label={`Value of rate limit ${at + 1}`}
            placeholder="Value"
            min={0}
            allowDecimal={false}
            thousandSeparator=" "
            value={row.value}
            error={error(`rate_limits.${at}.value`)}
            onChange={(value) => change(at, { value })}
          />
          <Select
            aria-label={`What rate limit ${at + 1} counts`}
            data={typeChoices}
            value={row.type}
            onChange={(type) => type && change(at, { type })}
          />
          <Select
            aria-label={`Span of rate limit ${at + 1}`}
            data={unitChoices}
            value={row.unit}
            onChange={(unit) => unit && change(at, { unit })}
          />
          <ActionIcon
            size={36}
            aria-label={`Remove rate limit ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </div>
      ))}
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          No rate limit.
        </Text>
      )}
      {rows.length < mostRows && (
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => onChange([...rows, { key: crypto.randomUUID(), type: 'requests', unit: 'rpm', value: '' }])}
          style={{ alignSelf: 'flex-start' }}
        >
          Add a rate limit
        </Button>
      )}
    </Stack>
  );
}
