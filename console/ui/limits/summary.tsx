/** Limits to read: how much of each budget is used, and the rates. */
import { Group, Progress, Stack, Text } from '@mantine/core';
import type { RateLimit, UsageLimit } from '../../api/types.ts';
import { Status } from '../status.tsx';
import { inWords } from './rate-limits.tsx';
import { amount, rhythmOf } from './usage-limit.ts';

function BudgetUse({ limit }: { limit: UsageLimit }) {
  const share = Math.min(100, (limit.current_usage / limit.credit_limit) * 100);
  const warned = limit.alert_threshold !== null && limit.current_usage >= limit.alert_threshold;
  const label = limit.type === 'cost' ? 'Cost budget' : 'Token budget';
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={550}>
          {label}
        </Text>
        {limit.status === 'exhausted' && <Status value="exhausted" />}
      </Group>
      <Progress
        value={share}
        color={limit.status === 'exhausted' ? 'red' : warned ? 'orange' : 'lagoon'}
        aria-label={`${label} used`}
      />
      <Text size="xs" c="dimmed" className="gw-numbers">
        {amount(limit.type, limit.current_usage)} of {amount(limit.type, limit.credit_limit)} · {rhythmOf(limit)}
        {limit.alert_threshold !== null && ` · warns at ${amount(limit.type, limit.alert_threshold)}`}
      </Text>
    </Stack>
  );
}

export function Limits({ budgets, rates }: { budgets: readonly UsageLimit[]; rates: readonly RateLimit[] }) {
  if (budgets.length === 0 && rates.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No limits: calls are neither counted against a budget nor slowed down.
      </Text>
    );
  }
  return (
    <Stack gap="md">
      {budgets.map((limit) => (
        <BudgetUse key={limit.type} limit={limit} />
      ))}
      {rates.length > 0 && (
        <Stack gap={4}>
          <Text size="sm" fw={550}>
            Rate limits
          </Text>
          {rates.map((rate) => (
            <Text key={`${rate.type}-${rate.unit}`} size="sm" c="dimmed" className="gw-numbers">
              {inWords(rate)}
            </Text>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
