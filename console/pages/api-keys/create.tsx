/** Making a key: of which kind, where, for whom, and what it may do. */
import { Button, Collapse, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateKey } from '../../api/api-keys.ts';
import { useCan, useCanIn, useSelf } from '../../api/session.ts';
import type { ApiKeyType, Scope } from '../../api/types.ts';
import { useMemberChoices, useWorkspaceChoices } from '../../api/workspaces.ts';
import { fullName } from '../../shell/account-menu.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { displayName } from '../workspaces/page.tsx';
import { checkOptions, type KeyOptions, keyOptions, OptionFields, optionsInput } from './option-fields.tsx';
import { ScopePicker } from './scope-picker.tsx';
import type { ShownSecret } from './secret.tsx';

interface Values extends KeyOptions {
  type: ApiKeyType;
  workspace_id: string;
  user_id: string;
  name: string;
  description: string;
  scopes: Scope[];
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

const usualOptions = JSON.stringify(optionsInput(keyOptions(null)));

export function CreateKey(props: { onClose(): void; onCreated(shown: ShownSecret): void }) {
  const self = useSelf();
  const can = useCan();
  const create = useCreateKey();
  const workspaces = useWorkspaceChoices();
  const [more, setMore] = useState(false);
  const offered = families.filter(({ needs }) => can(needs));
  const first = offered[0]?.type ?? 'workspace-user';
  const form = useForm<Values>({
    initial: {
      ...keyOptions(null),
      type: first,
      workspace_id: self.workspaces.length === 1 ? (self.workspaces[0]?.id ?? '') : '',
      user_id: self.user.id,
      name: '',
      description: '',
      scopes: usual(first),
    },
    check: (values) => ({
      ...(values.name.trim() === '' && { name: 'A key needs a name.' }),
      ...(values.name.trim().length > 100 && { name: 'At most 100 characters.' }),
      ...(values.description.trim().length > 200 && { description: 'At most 200 characters.' }),
      ...(values.type !== 'organisation-service' && !values.workspace_id && { workspace_id: 'Choose a workspace.' }),
      ...(values.scopes.length === 0 && { scopes: 'Choose at least one scope.' }),
      ...checkOptions(values),
    }),
    async send(values) {
      const options = optionsInput(values);
      const { key } = await create.mutateAsync({
        type: values.type,
        name: values.name.trim(),
        scopes: values.scopes,
        ...(values.description.trim() !== '' && { description: values.description.trim() }),
        ...(values.type !== 'organisation-service' && { workspace_id: values.workspace_id }),
        ...(values.type === 'workspace-user' && { user_id: values.user_id }),
        // Untouched options are left to the service, which may enforce its own.
        ...(JSON.stringify(options) !== usualOptions && given(options)),
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
      <TextInput
        label="Name"
        withAsterisk
        data-autofocus
        value={values.name}
        error={form.error('name')}
        onChange={(event) => form.set('name', event.currentTarget.value)}
      />
      <ScopePicker
        type={values.type}
        value={values.scopes}
        mayGrant={inWorkspace && values.workspace_id ? canThere : can}
        error={form.error('scopes')}
        onChange={(scopes) => form.set('scopes', scopes)}
      />
      <Button
        variant="subtle"
        size="xs"
        onClick={() => setMore(!more)}
        aria-expanded={more}
        rightSection={<Icon name="chevron" size={14} />}
        style={{ alignSelf: 'flex-start' }}
      >
        {more ? 'Fewer options' : 'Description, lifetime and limits'}
      </Button>
      <Collapse expanded={more}>
        <Stack gap="md">
          <Textarea
            label="Description"
            autosize
            minRows={2}
            value={values.description}
            error={form.error('description')}
            onChange={(event) => form.set('description', event.currentTarget.value)}
          />
          <OptionFields form={form} />
        </Stack>
      </Collapse>
    </FormDialog>
  );
}

/** The options that say something. */
const given = (options: ReturnType<typeof optionsInput>) => ({
  ...(options.expires_at && { expires_at: options.expires_at }),
  ...(options.rotation_policy && { rotation_policy: options.rotation_policy }),
  ...(options.usage_limits && { usage_limits: options.usage_limits }),
  ...(options.rate_limits.length > 0 && { rate_limits: options.rate_limits }),
  ...(options.alert_emails.length > 0 && { alert_emails: options.alert_emails }),
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
