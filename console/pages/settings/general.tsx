/** The organisation itself: its name, its addresses, and how long people stay signed in. */
import { Button, Group, Skeleton, Stack, TextInput } from '@mantine/core';
import { useOrganisation, useSaveOrganisation } from '../../api/organisation.ts';
import type { Organisation } from '../../api/types.ts';
import { useForm } from '../../ui/form.ts';
import { useTell } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';
import { NumberSetting, SwitchSetting } from './controls.tsx';
import { SettingsSection, useHost } from './host.tsx';

export function General() {
  const organisation = useOrganisation();
  const { values } = useHost();
  return (
    <>
      <Section title="Organisation" description="Its name, and the addresses that snippets and clients are shown.">
        {organisation.error ? (
          <Fault error={organisation.error} retry={() => void organisation.refetch()} />
        ) : organisation.data ? (
          <OrganisationForm organisation={organisation.data} />
        ) : (
          <Skeleton h={260} />
        )}
      </Section>
      <SettingsSection section={null} title="Sessions and start" help="They hold for everybody in the organisation.">
        {({ mode, save }) => (
          <>
            <NumberSetting
              label="Longest session"
              help="Counted from the sign-in; lowering it also ends sessions that are open now."
              value={values.session_settings.max_session_ttl}
              unit={60}
              suffix="minutes"
              placeholder="24 hours"
              min={15}
              max={5_256_000}
              mode={mode}
              onSave={(max_session_ttl) => save({ session_settings: { max_session_ttl } })}
            />
            <SwitchSetting
              label="Hide the first steps"
              help="The overview then shows no hints for newcomers."
              value={values.disable_getting_started}
              mode={mode}
              onChange={(disable_getting_started) => save({ disable_getting_started })}
            />
          </>
        )}
      </SettingsSection>
    </>
  );
}

function OrganisationForm({ organisation }: { organisation: Organisation }) {
  const saveOrganisation = useSaveOrganisation();
  const tell = useTell();
  const form = useForm({
    initial: {
      name: organisation.name,
      gateway_url: organisation.gateway_url ?? '',
      mcp_gateway_url: organisation.mcp_gateway_url ?? '',
    },
    check: ({ name }) => (name.trim() === '' ? { name: 'An organisation needs a name.' } : {}),
    async send(values) {
      await saveOrganisation.mutateAsync({
        name: values.name.trim(),
        gateway_url: values.gateway_url.trim() || null,
        mcp_gateway_url: values.mcp_gateway_url.trim() || null,
      });
      tell('The organisation was saved.');
    },
  });
  const field = (name: keyof typeof form.values) => ({
    value: form.values[name],
    error: form.error(name),
    onChange: (event: { currentTarget: { value: string } }) => form.set(name, event.currentTarget.value),
  });
  return (
    <form onSubmit={form.onSubmit} noValidate>
      <Stack gap="md" maw={520}>
        <TextInput label="Name" {...field('name')} />
        <TextInput
          label="Gateway address"
          description="Empty: the address of this console. /v1 is added where it is missing."
          placeholder={`${window.location.origin}/v1`}
          {...field('gateway_url')}
        />
        <TextInput label="MCP gateway address" placeholder="Not set" {...field('mcp_gateway_url')} />
        {form.fault ? <Fault error={form.fault} /> : null}
        <Group>
          <Button type="submit" loading={form.busy}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
