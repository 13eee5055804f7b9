/** Signing in: the address shows the way, which is a password, the organisation's identity provider, or either. */
import { Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { ApiFault } from '../../api/client.ts';
import { askWayIn, useSignIn, type WayIn } from '../../api/session.ts';
import { navigate, usePath, useSearchField } from '../../router/router.tsx';
import { isEmail, useForm } from '../../ui/form.ts';
import { Fault } from '../../ui/states.tsx';
import { Entrance } from './entrance.tsx';

/** The way in of an address, once it is known. */
type KnownWay = WayIn & { email: string };

export function SignInPage() {
  const path = usePath();
  const signIn = useSignIn();
  const [next] = useSearchField('next');
  const [known, setKnown] = useState<KnownWay | null>(null);
  const [insists, setInsists] = useState(false);
  useEffect(() => {
    // The address says that this is the sign-in, and remembers where the visitor was going.
    if (path !== '/login') {
      const back = path === '/' ? '' : `?next=${encodeURIComponent(path + window.location.search)}`;
      navigate(`/login${back}`, 'replace');
    }
  }, [path]);

  const ask = async (email: string): Promise<KnownWay> => {
    const way = { ...(await askWayIn(email, next)), email };
    setKnown(way);
    return way;
  };
  const form = useForm({
    initial: { email: '', password: '' },
    check: ({ email }) => (isEmail(email) ? {} : { email: 'Enter your e-mail address.' }),
    async send({ email, password }) {
      const address = email.trim();
      if (password !== '') return signIn.mutateAsync({ email: address, password });
      // The answer of before may be too old for the identity provider.
      const way = await ask(address);
      if (way.redirect_url !== null) return leadTo(way.redirect_url);
      throw new ApiFault('', { fields: [{ location: 'body', path: 'password', message: 'Enter your password.' }] });
    },
  });
  const { email, password } = form.values;
  const way = known?.email === email.trim() ? known : null;
  const leadsElsewhere = way !== null && way.redirect_url !== null;
  const asksPassword = !leadsElsewhere || insists || password !== '';
  const wrong = form.fault instanceof ApiFault && form.fault.status === 401;

  const lookUp = () => {
    const address = email.trim();
    // Whoever cannot be answered now is asked again with the form.
    if (isEmail(address) && !way) ask(address).catch(() => setKnown(null));
  };

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
            onBlur={lookUp}
            {...form.text('email')}
          />
          <div aria-live="polite">
            {leadsElsewhere && <Text size="sm">Your organisation signs in through its own identity provider.</Text>}
          </div>
          {leadsElsewhere && asksPassword && (
            <>
              <Button variant="default" fullWidth onClick={() => void ask(email.trim()).then(goOn)}>
                Continue with single sign-on
              </Button>
              <Divider label="or" />
            </>
          )}
          {asksPassword && (
            <PasswordInput
              label="Password"
              name="password"
              autoComplete="current-password"
              {...form.text('password')}
            />
          )}
          <Button type="submit" fullWidth mt={4} loading={form.busy}>
            {asksPassword ? 'Sign in' : 'Continue with single sign-on'}
          </Button>
          {!asksPassword && (
            <Button variant="subtle" size="compact-sm" onClick={() => setInsists(true)}>
              {way?.password ? 'Use a password instead' : 'I am an owner and use my password'}
            </Button>
          )}
        </Stack>
      </form>
    </Entrance>
  );
}

const goOn = ({ redirect_url }: WayIn): void => {
  if (redirect_url !== null) void leadTo(redirect_url);
};

/** The page is left behind, so that nothing waits for this. */
function leadTo(url: string): Promise<never> {
  window.location.assign(url);
  return new Promise(() => undefined);
}
