/** Making a key: of which kind, where, for whom, and what it may do. */
import { Select, SimpleGrid } from '@mantine/core';
import { useCreateKey } from '../../api/api-keys.ts';
import { useCan, useCanIn, useSelf } from '../../api/session.ts';
import type { ApiKeyType, Scope } from '../../api/types.ts';
import { useMemberChoices, useWorkspaceChoices } from '../../api/workspaces.ts';
import { fullName } from '../../shell/account-menu.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { displayName } from '../workspaces/page.tsx';
import { checkKey, KeyFields, type KeyValues, keyInput, keyValues } from './key-fields.tsx';
import type { ShownSecret } from './secret.tsx';

interface Values extends KeyValues {
  type: ApiKeyType;
  workspace_id: string;
  user_id: string;
}

const families: { type: ApiKeyType; label: string; needs: Scope }[] = [
  {
    type: 'workspace-service',
    label: 'Workspace key – for a program in one workspace',
    needs: 'workspace_service_api_keys.create',
  },
  {
    type: 'workspace-user',
    label: 'User key – for one person in one workspace',
    needs: 'workspace_user_api_keys.create',
  },
  {
    type: 'organisation-service',
    label: 'Admin key – manages the organisation, makes no model calls',
    needs: 'organisation_service_api_keys.create',
  },
];

/** What most keys need: calling models with saved prompts. */
const usual = (type: ApiKeyType): Scope[] =>
  type === 'organisation-service' ? [] : ['completions.write', 'prompts.read'];

export function CreateKey(props: { onClose(): void; onCreated(shown: ShownSecret): void }) {
  const self = useSelf();
  const can = useCan();
  const create = useCreateKey();
  const workspaces = useWorkspaceChoices();
  const offered = families.filter(({ needs }) => can(needs));
  const first = offered[0]?.type ?? 'workspace-user';
  const form = useForm<Values>({
    initial: {
      ...keyValues(null),
      type: first,
      workspace_id: self.workspaces.length === 1 ? (self.workspaces[0]?.id ?? '') : '',
      user_id: self.user.id,
      scopes: usual(first),
    },
    check: (values) => ({
      ...checkKey(values),
      ...(values.type !== 'organisation-service' && !values.workspace_id && { workspace_id: 'Choose a workspace.' }),
    }),
    async send(values) {
      const { key } = await create.mutateAsync({
        type: values.type,
        ...given(keyInput(values)),
        ...(values.type !== 'organisation-service' && { workspace_id: values.workspace_id }),
        ...(values.type === 'workspace-user' && { user_id: values.user_id }),
      });
      props.onCreated({ title: 'The key is ready', keyName: values.name.trim(), secret: key, transitionEnd: null });
    },
  });
  const { values } = form;
  const canThere = useCanIn(values.workspace_id);
  const inWorkspace = values.type !== 'organisation-service';
  return (
    <FormDialog title="New API key" form={form} action="Create key" onClose={props.onClose} size="lg">
      <Select
        label="Kind"
        data={offered.map(({ type, label }) => ({ value: type, label }))}
        value={values.type}
        onChange={(type) => {
          if (!type) return;
          form.set('type', type);
          form.set('scopes', usual(type));
        }}
      />
      {inWorkspace && (
        <SimpleGrid cols={{ base: 1, xs: values.type === 'workspace-user' ? 2 : 1 }} spacing="sm">
          <Select
            label="Workspace"
            placeholder="Choose a workspace"
            withAsterisk
            searchable
            data={(workspaces.data?.data ?? []).map((workspace) => ({
              value: workspace.id,
              label: displayName(workspace),
            }))}
            value={values.workspace_id || null}
            error={form.error('workspace_id')}
            onChange={(id) => form.set('workspace_id', id ?? '')}
          />
          {values.type === 'workspace-user' && (
            <OwnerSelect
              workspaceId={values.workspace_id}
              value={values.user_id}
              error={form.error('user_id')}
              onChange={(id) => form.set('user_id', id)}
            />
          )}
        </SimpleGrid>
      )}
      <KeyFields form={form} type={values.type} mayGrant={inWorkspace && values.workspace_id ? canThere : can} folded />
    </FormDialog>
  );
}

/** What says something; the rest is left to the service, which may have values of its own to give. */
const given = ({ name, scopes, ...rest }: ReturnType<typeof keyInput>) => ({
  name,
  scopes,
  ...(rest.description && { description: rest.description }),
  ...(rest.expires_at && { expires_at: rest.expires_at }),
  ...(rest.rotation_policy && { rotation_policy: rest.rotation_policy }),
  ...(rest.usage_limits && { usage_limits: rest.usage_limits }),
  ...(rest.rate_limits.length > 0 && { rate_limits: rest.rate_limits }),
  ...(rest.alert_emails.length > 0 && { alert_emails: rest.alert_emails }),
});

function OwnerSelect(props: {
  workspaceId: string;
  value: string;
  error: string | undefined;
  onChange(id: string): void;
}) {
  const { user } = useSelf();
  const members = useMemberChoices(props.workspaceId);
  const others = (members.data?.data ?? []).filter(({ id }) => id !== user.id);
  return (
    <Select
      label="Owner"
      searchable
      data={[
        { value: user.id, label: `${fullName(user)} (you)` },
        ...others.map((member) => ({ value: member.id, label: `${fullName(member)} (${member.email})` })),
      ]}
      value={props.value}
      error={props.error}
      onChange={(id) => id && props.onChange(id)}
    />
  );
}
