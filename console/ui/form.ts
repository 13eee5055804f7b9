/** The state of a form: its values, what is wrong with each field (found here or by the service), and its submission. */
import { type ChangeEvent, type FormEvent, useState } from 'react';
import { ApiFault } from '../api/client.ts';

export type FieldErrors = Record<string, string>;

export interface TextField {
  value: string;
  error: string | undefined;
  onChange(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>): void;
}

/** What the fields of a form need of it; a form with more values than these will do. */
export interface Fields<out V> {
  values: V;
  /** The error of a field, by its name or by its path in the service's words. */
  error(path: string): string | undefined;
  set<K extends keyof V & string>(name: K, value: V[K]): void;
  /** The props of a field whose value is plain text. */
  text(name: keyof V & string): TextField;
}

export interface Form<V> extends Fields<V> {
  busy: boolean;
  /** What went wrong that belongs to no field on screen. */
  fault: unknown;
  onSubmit(event: FormEvent): void;
}

interface FormRules<V> {
  initial: V;
  /** What is wrong before the service is asked; keys are field paths. */
  check?(values: V): FieldErrors;
  send(values: V): Promise<unknown>;
}

export function useForm<V extends object>({ initial, check, send }: FormRules<V>): Form<V> {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const submit = async () => {
    const found = check?.(values) ?? {};
    setErrors(found);
    setFault(null);
    if (Object.keys(found).length > 0) return focusFirstError();
    setBusy(true);
    try {
      await send(values);
    } catch (error) {
      const { onFields, elsewhere } = divide(error, Object.keys(initial));
      setErrors(onFields);
      setFault(elsewhere);
      focusFirstError();
    } finally {
      setBusy(false);
    }
  };

  const put = (name: string, value: unknown) => {
    setValues((current) => ({ ...current, [name]: value }));
    setErrors((current) => withoutField(current, name));
  };

  return {
    values,
    busy,
    fault,
    set: put,
    text: (name) => ({
      value: String(values[name]),
      error: errors[name],
      onChange: (event) => put(name, event.currentTarget.value),
    }),
    error: (path) => errors[path],
    onSubmit(event) {
      event.preventDefault();
      event.stopPropagation();
      if (!busy) void submit();
    },
  };
}

const belongsTo = (path: string, field: string): boolean => path === field || path.startsWith(`${field}.`);

const withoutField = (errors: FieldErrors, field: string): FieldErrors =>
  Object.fromEntries(Object.entries(errors).filter(([path]) => !belongsTo(path, field)));

/** What the service says of fields on screen, and the rest, which is shown as a whole. */
function divide(error: unknown, fields: readonly string[]): { onFields: FieldErrors; elsewhere: unknown } {
  if (!(error instanceof ApiFault) || error.fields.length === 0) return { onFields: {}, elsewhere: error };
  const onFields: FieldErrors = {};
  let homeless = false;
  for (const { path, message } of error.fields) {
    const field = fields.find((name) => belongsTo(path, name));
    if (field === undefined) homeless = true;
    else onFields[field] ??= sentence(message);
    if (field !== undefined) onFields[path] ??= sentence(message);
  }
  return { onFields, elsewhere: homeless ? error : null };
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** After the errors are on screen, the first wrong field takes the focus. */
function focusFirstError(): void {
  requestAnimationFrame(() => {
    const fields = document.querySelectorAll<HTMLElement>('[aria-invalid="true"]');
    fields.item(fields.length > 0 ? 0 : -1)?.focus();
  });
}

export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text.trim());
