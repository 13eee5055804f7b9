/** Changing a workspace: what it is, its limits, and its default metadata. */
import { Checkbox, Divider } from '@mantine/core';
import type { Workspace } from '../../api/types.ts';
import { useUpdateWorkspace } from '../../api/workspaces.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { BudgetFields } from '../../ui/limits/budget-fields.tsx';
import { checkRates, RateLimitFields, rateLimitsOf, rateRows } from '../../ui/limits/rate-limits.tsx';
import { budgetForm, checkBudget, draftOf } from '../../ui/limits/usage-limit.ts';
import { checkMetadata, MetadataFields, metadataOf, metadataRows } from '../../ui/metadata.tsx';
import { checkIdentity, IdentityFields } from '../workspaces/identity-fields.tsx';

export function EditWorkspace(props: { workspace: Workspace; onClose(): void; onSaved(): void }) {
  const { workspace } = props;
  const update = useUpdateWorkspace(workspace.id);
  const budgetOf = (type: 'cost' | 'tokens') => workspace.usage_limits.find((limit) => limit.type === type);
  const form = useForm({
    initial: {
      name: workspace.name,
      icon: workspace.icon ?? '',
      description: workspace.description ?? '',
      cost: budgetForm(budgetOf('cost'), 'cost'),
      tokens: budgetForm(budgetOf('tokens'), 'tokens'),
      rate_limits: rateRows(workspace.rate_limits),
      metadata: metadataRows(workspace.defaults.metadata),
      reset_usage: false,
    },
    check: (values) => ({
      ...checkIdentity(values),
      ...checkBudget(values.cost, 'cost'),
      ...checkBudget(values.tokens, 'tokens'),
      ...checkRates(values.rate_limits, 1),
      ...checkMetadata(values.metadata),
    }),
    async send(values) {
      const budgets = [draftOf(values.cost), draftOf(values.tokens)].filter((budget) => budget !== null);
      const usage_limits = budgets;
      const rate_limits = rateLimitsOf(values.rate_limits);
      await update.mutateAsync({
        name: values.name.trim(),
        icon: values.icon.trim(),
        description: values.description.trim() || null,
        defaults: { metadata: metadataOf(values.metadata) },
        // Left out when untouched: not everybody who may rename a workspace may change what it spends.
        ...(!same(usage_limits, draftsOf(workspace)) && { usage_limits }),
        ...(!same(rate_limits, workspace.rate_limits) && { rate_limits }),
        ...(values.reset_usage && { reset_usage: true }),
      });
      props.onSaved();
    },
  });
  const { values } = form;
  return (
    <FormDialog title="Edit workspace" form={form} action="Save" onClose={props.onClose} size="lg">
      <IdentityFields form={form} />
      <Divider label="Budgets" labelPosition="left" />
      <BudgetFields
        label="Limit the cost"
        value={values.cost}
        path="cost"
        chooseType={false}
        error={form.error}
        onChange={(value) => form.set('cost', value)}
      />
      <BudgetFields
        label="Limit the tokens"
        value={values.tokens}
        path="tokens"
        chooseType={false}
        error={form.error}
        onChange={(value) => form.set('tokens', value)}
      />
      {workspace.usage_limits.length > 0 && (
        <Checkbox
          label="Set what was used back to zero now"
          checked={values.reset_usage}
          onChange={(event) => form.set('reset_usage', event.currentTarget.checked)}
        />
      )}
      <Divider label="Rate limits" labelPosition="left" />
      <RateLimitFields
        rows={values.rate_limits}
        error={form.error}
        onChange={(rows) => form.set('rate_limits', rows)}
      />
      <Divider label="Default metadata" labelPosition="left" />
      <MetadataFields rows={values.metadata} error={form.error} onChange={(rows) => form.set('metadata', rows)} />
    </FormDialog>
  );
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const draftsOf = ({ usage_limits }: Workspace) =>
  (['cost', 'tokens'] as const).flatMap((type) => {
    const stored = usage_limits.find((limit) => limit.type === type);
    return stored ? [draftOf(budgetForm(stored))] : [];
  });
