/** Choosing a password: what it must be like, typed twice, and the address it belongs to for whoever keeps passwords. */
import { PasswordInput } from '@mantine/core';
import type { FieldErrors, TextField } from './form.ts';

const shortest = 12;

/** `name` is what the service calls the password. */
export const checkNewPassword = (name: string, password: string, again: string): FieldErrors => ({
  ...(password.length < shortest && { [name]: `Choose a password of at least ${shortest} characters.` }),
  ...(again !== password && { again: 'The two passwords differ.' }),
});

export function NewPasswordFields(props: { label: string; password: TextField; again: TextField }) {
  const { label, password, again } = props;
  return (
    <>
      <PasswordInput
        label={label}
        description={`At least ${shortest} characters.`}
        autoComplete="new-password"
        {...password}
      />
      <PasswordInput label={`${label}, once more`} autoComplete="new-password" {...again} />
    </>
  );
}

/** Password managers file a password under the name beside it, which people see elsewhere on the page. */
export const AccountName = ({ email }: { email: string }) => (
  <input className="gw-hidden" tabIndex={-1} aria-hidden="true" autoComplete="username" value={email} readOnly />
);
