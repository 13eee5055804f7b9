/** What a key may carry beyond its name and scopes: an end, a rotation, limits, and who is warned. */
import { Divider, NumberInput, Select, SimpleGrid, TagsInput, TextInput } from '@mantine/core';
import type { KeyInput } from '../../api/api-keys.ts';
import type { ApiKey } from '../../api/types.ts';
import { type FieldErrors, type Fields, isEmail } from '../../ui/form.ts';
import { BudgetFields } from '../../ui/limits/budget-fields.tsx';
import { checkRates, RateLimitFields, type RateRow, rateLimitsOf, rateRows } from '../../ui/limits/rate-limits.tsx';
import { type BudgetForm, budgetForm, checkBudget, draftOf } from '../../ui/limits/usage-limit.ts';
import {
  checkRotation,
  isoTime,
  localTime,
  policyOf,
  type Rhythm,
  type RotationForm,
  rotationForm,
  shortestTransitionHours,
} from './rotation.ts';

export interface KeyOptions {
  expires_at: string;
  rotation_policy: RotationForm;
  usage_limits: BudgetForm;
  rate_limits: RateRow[];
  alert_emails: string[];
}

export const keyOptions = (key: ApiKey | null): KeyOptions => ({
  expires_at: localTime(key?.expires_at ?? null),
  rotation_policy: rotationForm(key?.rotation_policy ?? null),
  usage_limits: budgetForm(key?.usage_limits),
  rate_limits: rateRows(key?.rate_limits ?? []),
  alert_emails: key?.alert_emails ?? [],
});

export const optionsInput = (options: KeyOptions) =>
  ({
    expires_at: isoTime(options.expires_at),
    rotation_policy: policyOf(options.rotation_policy),
    usage_limits: draftOf(options.usage_limits),
    rate_limits: rateLimitsOf(options.rate_limits),
    alert_emails: options.alert_emails,
  }) satisfies KeyInput;

export function checkOptions(options: KeyOptions): FieldErrors {
  const wrong = options.alert_emails.find((address) => !isEmail(address));
  return {
    ...checkBudget(options.usage_limits, 'usage_limits'),
    ...checkRates(options.rate_limits, 0),
    ...checkRotation(options.rotation_policy),
    ...(wrong !== undefined && { alert_emails: `${wrong} is no e-mail address.` }),
  };
}

const rhythms: { value: Rhythm; label: string }[] = [
  { value: 'none', label: 'Only by hand' },
  { value: 'weekly', label: 'Every week, on Monday' },
  { value: 'monthly', label: 'Every month, on day 1' },
  { value: 'days', label: 'Every so many days' },
  { value: 'once', label: 'Once, on a date' },
];

export function OptionFields({ form }: { form: Fields<KeyOptions> }) {
  const { values, set } = form;
  const rotation = values.rotation_policy;
  const setRotation = (part: Partial<RotationForm>) => set('rotation_policy', { ...rotation, ...part });
  return (
    <>
      <Divider label="Lifetime" labelPosition="left" />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput type="datetime-local" label="Ends" description="Empty: never" {...form.text('expires_at')} />
        <Select
          label="Rotation"
          description="When the secret is replaced"
          data={rhythms}
          value={rotation.rhythm}
          error={form.error('rotation_policy')}
          onChange={(rhythm) => rhythm && setRotation({ rhythm })}
        />
        {rotation.rhythm === 'days' && (
          <NumberInput
            label="Days between rotations"
            min={1}
            max={365}
            value={rotation.days}
            error={form.error('rotation_policy.rotation_period_days')}
            onChange={(days) => setRotation({ days })}
          />
        )}
        {rotation.rhythm === 'once' && (
          <TextInput
            type="datetime-local"
            label="Rotate on"
            value={rotation.at}
            error={form.error('rotation_policy.next_rotation_at')}
            onChange={(event) => setRotation({ at: event.currentTarget.value })}
          />
        )}
        {rotation.rhythm !== 'none' && (
          <NumberInput
            label="Old secret stays valid for"
            suffix=" hours"
            min={shortestTransitionHours}
            step={1}
            value={rotation.transitionHours}
            error={form.error('rotation_policy.key_transition_period_ms')}
            onChange={(transitionHours) => setRotation({ transitionHours })}
          />
        )}
      </SimpleGrid>
      <Divider label="Limits" labelPosition="left" />
      <BudgetFields
        label="Set a budget"
        value={values.usage_limits}
        path="usage_limits"
        chooseType
        error={form.error}
        onChange={(value) => set('usage_limits', value)}
      />
      <RateLimitFields rows={values.rate_limits} error={form.error} onChange={(rows) => set('rate_limits', rows)} />
      <TagsInput
        label="Warn these addresses"
        description="Besides the owners and admins; about budgets, expiry and rotation"
        placeholder={values.alert_emails.length === 0 ? 'name@example.com' : ''}
        value={values.alert_emails}
        error={form.error('alert_emails')}
        maxTags={50}
        onChange={(addresses) => set('alert_emails', addresses)}
      />
    </>
  );
}
