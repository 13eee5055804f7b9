/** The organisation itself: its name, its addresses, and how long people stay signed in. */
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useOrganisation, useSaveOrganisation } from '../../api/organisation.ts';
import type { Organisation } from '../../api/types.ts';
import { useForm } from '../../ui/form.ts';
import { useTell } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Fault, Lines } from '../../ui/states.tsx';
import { SettingGroups } from './groups.tsx';
import type { SettingGroup } from './setting.ts';

const generalSettings: readonly SettingGroup[] = [
  {
    section: null,
    title: 'Sessions and start',
    help: 'They hold for everybody in the organisation.',
    settings: [
      {
        kind: 'number',
        label: 'Longest session',
        help: 'Counted from the sign-in; a day (1440 minutes) unless it is set. Lowering it also ends sessions that are open now.',
        unit: 60,
        suffix: 'minutes',
        placeholder: '1440',
        min: 15,
        max: 5_256_000,
        read: (values) => values.session_settings.max_session_ttl,
        write: (max_session_ttl) => ({ session_settings: { max_session_ttl } }),
      },
      {
        kind: 'switch',
        label: 'Hide the first steps',
        help: 'The overview then shows no hints for newcomers.',
        read: (values) => values.disable_getting_started,
        write: (disable_getting_started) => ({ disable_getting_started }),
      },
    ],
  },
];

export function General() {
  const organisation = useOrganisation();
  return (
    <>
      <Section title="Organisation" description="Its name, and the addresses that snippets and clients are shown.">
        {organisation.error ? (
          <Fault error={organisation.error} retry={() => void organisation.refetch()} />
        ) : organisation.data ? (
          <OrganisationForm organisation={organisation.data} />
        ) : (
          <Lines count={5} />
        )}
      </Section>
      <SettingGroups groups={generalSettings} />
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
  return (
    <form onSubmit={form.onSubmit} noValidate>
      <Stack gap="md" maw={520}>
        <TextInput label="Name" {...form.text('name')} />
        <TextInput
          label="Gateway address"
          description="Empty: the address of this console. /v1 is added where it is missing."
          placeholder={`${window.location.origin}/v1`}
          {...form.text('gateway_url')}
        />
        <TextInput label="MCP gateway address" placeholder="Not set" {...form.text('mcp_gateway_url')} />
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
