/** The state of a form: its values, what is wrong with each field (found here or by the service), and its submission. */
import { type FormEvent, useState } from 'react';
import { ApiFault } from '../api/client.ts';

export type FieldErrors = Record<string, string>;

export interface Form<V> {
  values: V;
  busy: boolean;
  /** What went wrong that belongs to no field on screen. */
  fault: unknown;
  set<K extends keyof V & string>(name: K, value: V[K]): void;
  /** The error of a field, by its name or by its path in the service's words. */
  error(path: string): string | undefined;
  onSubmit(event: FormEvent): void;
}

interface FormRules<V> {
  initial: V;
  /** What is wrong before the service is asked; keys are field paths. */
  check?(values: V): FieldErrors;
  send(values: V): Promise<unknown>;
  /** Paths of the service's errors that have a field on screen; errors elsewhere are shown as a whole. */
  fields?: readonly string[];
}

export function useForm<V extends object>({ initial, check, send, fields }: FormRules<V>): Form<V> {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<FieldErrors>({});
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const shown = fields ?? Object.keys(initial);

  const submit = async () => {
    const found = check?.(values) ?? {};
    setErrors(found);
    setFault(null);
    if (Object.keys(found).length > 0) return focusFirstError();
    setBusy(true);
    try {
      await send(values);
    } catch (error) {
      const { onFields, elsewhere } = divide(error, shown);
      setErrors(onFields);
      setFault(elsewhere);
      focusFirstError();
    } finally {
      setBusy(false);
    }
  };

  return {
    values,
    busy,
    fault,
    set(name, value) {
      setValues((current) => ({ ...current, [name]: value }));
      setErrors((current) => withoutField(current, name));
    },
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
