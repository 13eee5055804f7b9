/** The signed-in person's own account: their name, their password, the way out. */
import { Button, Group, PasswordInput, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useChangePassword, useSaveProfile, useSelf } from '../../api/session.ts';
import { leave } from '../../shell/account-menu.tsx';
import { useForm } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { Moment } from '../../ui/moment.tsx';
import { AccountName, checkNewPassword, NewPasswordFields } from '../../ui/new-password.tsx';
import { useTell } from '../../ui/notice.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Fault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Sessions } from './sessions.tsx';

export function AccountPage() {
  const { user, organisation, session_expires_at: sessionEnd } = useSelf();
  return (
    <Page
      title="Account"
      description="Your password is the same in every organisation that it opens."
      actions={
        <Button variant="default" leftSection={<Icon name="signOut" size={16} />} onClick={() => void leave()}>
          Sign out
        </Button>
      }
    >
      <Section title="You">
        <Facts
          items={[
            ['E-mail address', user.email],
            ['Organisation', organisation.name],
            ['Role', <Status key="role" value={organisation.role} />],
            ['This session ends', <Moment key="end" at={sessionEnd} />],
          ]}
        />
      </Section>
      <Profile />
      <Password />
      <Sessions />
    </Page>
  );
}

function Profile() {
  const { user } = useSelf();
  const save = useSaveProfile();
  const tell = useTell();
  const form = useForm({
    initial: { first_name: user.first_name, last_name: user.last_name },
    check: ({ first_name }) => (first_name.trim() === '' ? { first_name: 'Enter your first name.' } : {}),
    async send({ first_name, last_name }) {
      await save.mutateAsync({ first_name: first_name.trim(), last_name: last_name.trim() });
      tell('Your name was saved.');
    },
  });
  return (
    <Section title="Name" description="How others see you.">
      <form onSubmit={form.onSubmit} noValidate>
        <Stack gap="md" maw={520}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <TextInput label="First name" autoComplete="given-name" {...form.text('first_name')} />
            <TextInput label="Last name" autoComplete="family-name" {...form.text('last_name')} />
          </SimpleGrid>
          {form.fault ? <Fault error={form.fault} /> : null}
          <Group>
            <Button type="submit" loading={form.busy}>
              Save name
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Password() {
  const { user } = useSelf();
  const change = useChangePassword();
  const tell = useTell();
  const form = useForm({
    initial: { current_password: '', new_password: '', again: '' },
    check: ({ current_password, new_password, again }) => ({
      ...(current_password === '' && { current_password: 'Enter your present password.' }),
      ...checkNewPassword('new_password', new_password, again),
    }),
    async send({ current_password, new_password }) {
      await change.mutateAsync({ current_password, new_password });
      form.set('current_password', '');
      form.set('new_password', '');
      form.set('again', '');
      tell('Your password was changed; your other sessions have ended.');
    },
  });
  return (
    <Section title="Password" description="Changing it ends all your other sessions.">
      <form onSubmit={form.onSubmit} noValidate>
        <Stack gap="md" maw={360}>
          <AccountName email={user.email} />
          <PasswordInput label="Present password" autoComplete="current-password" {...form.text('current_password')} />
          <NewPasswordFields label="New password" password={form.text('new_password')} again={form.text('again')} />
          {form.fault ? <Fault error={form.fault} /> : null}
          <Group>
            <Button type="submit" loading={form.busy}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
