/** Signing in with e-mail address and password. */
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useEffect } from 'react';
import { ApiFault } from '../../api/client.ts';
import { useSignIn } from '../../api/session.ts';
import { navigate, usePath, useSearchField } from '../../router/router.tsx';
import { isEmail, useForm } from '../../ui/form.ts';
import { Fault } from '../../ui/states.tsx';
import { Entrance } from './entrance.tsx';

export function SignInPage() {
  const path = usePath();
  const signIn = useSignIn();
  const [next] = useSearchField('next');
  useEffect(() => {
    // The address says that this is the sign-in, and remembers where the visitor was going.
    if (path !== '/login') {
      const back = path === '/' ? '' : `?next=${encodeURIComponent(path + window.location.search)}`;
      navigate(`/login${back}`, 'replace');
    }
  }, [path]);
  const form = useForm({
    initial: { email: '', password: '' },
    check: ({ email, password }) => ({
      ...(!isEmail(email) && { email: 'Enter your e-mail address.' }),
      ...(password === '' && { password: 'Enter your password.' }),
    }),
    send: (values) => signIn.mutateAsync({ email: values.email.trim(), password: values.password }),
  });
  const wrong = form.fault instanceof ApiFault && form.fault.status === 401;
  return (
    <Entrance title="Sign in to gw" {...(next !== '' && { lead: 'You will go on where you were.' })}>
      <form onSubmit={form.onSubmit} noValidate>
        <Stack gap="md">
          {form.fault ? <Fault error={form.fault} {...(wrong && { title: 'Sign-in failed' })} /> : null}
          <TextInput
            label="E-mail address"
            type="email"
            name="email"
            autoComplete="username"
            autoFocus
            {...form.text('email')}
          />
          <PasswordInput label="Password" name="password" autoComplete="current-password" {...form.text('password')} />
          <Button type="submit" fullWidth mt={4} loading={form.busy}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
