/** The fields of one budget. */
import { NumberInput, Select, SimpleGrid, Stack, Switch } from '@mantine/core';
import type { BudgetForm, ResetRhythm } from './usage-limit.ts';

const rhythms: { value: ResetRhythm; label: string }[] = [
  { value: 'monthly', label: 'Every month, on day 1' },
  { value: 'weekly', label: 'Every week, on Sunday' },
  { value: 'days', label: 'Every so many days' },
  { value: 'never', label: 'Never' },
];

const types = [
  { value: 'cost', label: 'Cost (US dollars)' },
  { value: 'tokens', label: 'Tokens' },
] as const;

export function BudgetFields(props: {
  label: string;
  value: BudgetForm;
  path: string;
  /** False where the place decides what is counted. */
  chooseType: boolean;
  error(path: string): string | undefined;
  onChange(value: BudgetForm): void;
}) {
  const { label, value, path, chooseType, error, onChange } = props;
  const set = (part: Partial<BudgetForm>) => onChange({ ...value, ...part });
  const unit = value.type === 'cost' ? { prefix: '$ ', decimalScale: 2 } : { thousandSeparator: ' ' };
  return (
    <Stack gap="sm">
      <Switch label={label} checked={value.on} onChange={(event) => set({ on: event.currentTarget.checked })} />
      {value.on && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {chooseType && (
            <Select label="Counts" data={types} value={value.type} onChange={(type) => type && set({ type })} />
          )}
          <NumberInput
            label="Limit"
            {...unit}
            min={1}
            value={value.limit}
            error={error(`${path}.credit_limit`)}
            onChange={(limit) => set({ limit })}
          />
          <NumberInput
            label="Warn at"
            placeholder="No warning"
            {...unit}
            min={1}
            value={value.alert}
            error={error(`${path}.alert_threshold`)}
            onChange={(alert) => set({ alert })}
          />
          <Select
            label="Starts over"
            data={rhythms}
            value={value.rhythm}
            onChange={(rhythm) => rhythm && set({ rhythm })}
          />
          {value.rhythm === 'days' && (
            <NumberInput
              label="Days"
              min={1}
              max={365}
              value={value.days}
              error={error(`${path}.periodic_reset_days`)}
              onChange={(days) => set({ days })}
            />
          )}
        </SimpleGrid>
      )}
    </Stack>
  );
}
