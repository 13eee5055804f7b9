/** Setting a new password by a link that an administrator made. */
import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { useNewPassword, useResetCard } from '../../api/session.ts';
import { Link, navigate } from '../../router/router.tsx';
import { useForm } from '../../ui/form.ts';
import { AccountName, checkNewPassword, NewPasswordFields } from '../../ui/new-password.tsx';
import { Fault } from '../../ui/states.tsx';
import { Entrance } from './entrance.tsx';

export function ResetPasswordPage({ token }: { token: string }) {
  const card = useResetCard(token);
  if (card.error) {
    return (
      <Entrance title="This link cannot be used">
        <Stack gap="md">
          <Fault error={card.error} />
          <Text size="sm">Ask an administrator of your organisation for a new one.</Text>
          <Button component={Link} href="/login" variant="default">
            Go to the sign-in
          </Button>
        </Stack>
      </Entrance>
    );
  }
  if (!card.data) {
    return (
      <Entrance title="A new password">
        <Skeleton h={36} />
      </Entrance>
    );
  }
  const { email, organisation_name: organisation } = card.data;
  return (
    <Entrance title="A new password" lead={`For ${email} in ${organisation}.`}>
      <PasswordForm token={token} email={email} />
    </Entrance>
  );
}

function PasswordForm({ token, email }: { token: string; email: string }) {
  const save = useNewPassword(token);
  const form = useForm({
    initial: { password: '', again: '' },
    check: ({ password, again }) => checkNewPassword('password', password, again),
    async send({ password }) {
      await save.mutateAsync({ password });
      navigate('/login', 'replace');
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate>
      <Stack gap="md">
        {form.fault ? <Fault error={form.fault} /> : null}
        <AccountName email={email} />
        <NewPasswordFields label="New password" password={form.text('password')} again={form.text('again')} />
        <Button type="submit" fullWidth mt={4} loading={form.busy}>
          Save the password
        </Button>
      </Stack>
    </form>
  );
}
