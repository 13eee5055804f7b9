/** Making a workspace: what it is; its limits can follow. */
import type { Workspace } from '../../api/types.ts';
import { useCreateWorkspace } from '../../api/workspaces.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { BudgetFields } from '../../ui/limits/budget-fields.tsx';
import { budgetForm, checkBudget, draftOf } from '../../ui/limits/usage-limit.ts';
import { checkIdentity, IdentityFields } from './identity-fields.tsx';

export function CreateWorkspace(props: { onClose(): void; onCreated(workspace: Workspace): void }) {
  const create = useCreateWorkspace();
  const form = useForm({
    initial: { name: '', icon: '', description: '', usage_limits: budgetForm(null) },
    check: (values) => ({ ...checkIdentity(values), ...checkBudget(values.usage_limits, 'usage_limits.0') }),
    async send({ name, icon, description, usage_limits }) {
      const budget = draftOf(usage_limits);
      const workspace = await create.mutateAsync({
        name: name.trim(),
        ...(icon.trim() !== '' && { icon: icon.trim() }),
        ...(description.trim() !== '' && { description: description.trim() }),
        ...(budget && { usage_limits: [budget] }),
      });
      props.onCreated(workspace);
    },
  });
  return (
    <FormDialog title="New workspace" form={form} action="Create workspace" onClose={props.onClose} size="lg">
      <IdentityFields form={form} />
      <BudgetFields
        label="Set a budget"
        value={form.values.usage_limits}
        path="usage_limits.0"
        chooseType
        error={form.error}
        onChange={(value) => form.set('usage_limits', value)}
      />
    </FormDialog>
  );
}
