/** Accepting an invite: a newcomer chooses a name and a password, somebody with an account proves it is theirs. */
import { Button, PasswordInput, SimpleGrid, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { signOut, useAcceptInvite, useInviteCard, useSession, useSignIn } from '../../api/session.ts';
import type { InviteCard, Self } from '../../api/types.ts';
import { Link, navigate } from '../../router/router.tsx';
import { useForm } from '../../ui/form.ts';
import { AccountName, checkNewPassword, NewPasswordFields } from '../../ui/new-password.tsx';
import { Fault } from '../../ui/states.tsx';
import { Entrance } from './entrance.tsx';

export function AcceptInvitePage({ token }: { token: string }) {
  const card = useInviteCard(token);
  const session = useSession();
  if (card.error) {
    return (
      <Entrance title="This invite cannot be used">
        <Stack gap="md">
          <Fault error={card.error} />
          <Text size="sm">Ask the person who invited you to send the invite again.</Text>
          <Button component={Link} href="/login" variant="default">
            Go to the sign-in
          </Button>
        </Stack>
      </Entrance>
    );
  }
  if (!card.data || session.isPending) {
    return (
      <Entrance title="Your invite">
        <Stack gap="md">
          <Skeleton h={36} />
          <Skeleton h={36} />
          <Skeleton h={36} />
        </Stack>
      </Entrance>
    );
  }
  const { organisation_name: organisation, email, status } = card.data;
  if (status === 'accepted') {
    return (
      <Entrance title="You have joined already" lead={`${email} belongs to ${organisation}.`}>
        <Button component={Link} href="/login" fullWidth>
          Go to the sign-in
        </Button>
      </Entrance>
    );
  }
  return (
    <Entrance title={`Join ${organisation}`} lead={`You were invited as ${email}.`}>
      {session.data ? (
        <SignedIn token={token} card={card.data} self={session.data} />
      ) : (
        <JoinForm token={token} card={card.data} />
      )}
    </Entrance>
  );
}

function SignedIn({ token, card, self }: { token: string; card: InviteCard; self: Self }) {
  const accept = useAcceptInvite(token);
  if (self.user.email !== card.email) {
    return (
      <Stack gap="md">
        <Text size="sm">
          You are signed in as {self.user.email}, but this invite is for {card.email}.
        </Text>
        <Button onClick={() => void signOut()}>Sign out and continue</Button>
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      {accept.error && <Fault error={accept.error} />}
      <Button
        loading={accept.isPending}
        onClick={() => accept.mutate({}, { onSuccess: () => navigate('/', 'replace') })}
      >
        Accept the invite
      </Button>
    </Stack>
  );
}

function JoinForm({ token, card }: { token: string; card: InviteCard }) {
  const accept = useAcceptInvite(token);
  const signIn = useSignIn();
  const known = card.requires_sign_in;
  const form = useForm({
    initial: { first_name: '', last_name: '', password: '', again: '' },
    check: (values) => (known ? checkKnown(values) : checkNewcomer(values)),
    async send({ first_name, last_name, password }) {
      const { organisation_id } = await accept.mutateAsync(
        known ? { password } : { password, first_name: first_name.trim(), last_name: last_name.trim() },
      );
      await signIn.mutateAsync({ email: card.email, password, organisation_id });
      navigate('/', 'replace');
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate>
      <Stack gap="md">
        {form.fault ? <Fault error={form.fault} /> : null}
        <AccountName email={card.email} />
        {known ? (
          <PasswordInput
            label="Your password"
            description="This address has an account; sign in with its password to join."
            autoComplete="current-password"
            {...form.text('password')}
          />
        ) : (
          <>
            <SimpleGrid cols={2} spacing="sm">
              <TextInput label="First name" autoComplete="given-name" autoFocus {...form.text('first_name')} />
              <TextInput label="Last name" autoComplete="family-name" {...form.text('last_name')} />
            </SimpleGrid>
            <NewPasswordFields label="Password" password={form.text('password')} again={form.text('again')} />
          </>
        )}
        <Button type="submit" fullWidth mt={4} loading={form.busy}>
          Join
        </Button>
      </Stack>
    </form>
  );
}

interface JoinValues {
  first_name: string;
  last_name: string;
  password: string;
  again: string;
}

const checkKnown = ({ password }: JoinValues) => (password === '' ? { password: 'Enter your password.' } : {});

const checkNewcomer = (values: JoinValues) => ({
  ...(values.first_name.trim() === '' && { first_name: 'Enter your first name.' }),
  ...(values.last_name.trim() === '' && { last_name: 'Enter your last name.' }),
  ...checkNewPassword('password', values.password, values.again),
});
