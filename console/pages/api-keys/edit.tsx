/** Changing a key: its name, what it may do, how long it lives and what it may use. Only what changed is sent. */
import { Checkbox } from '@mantine/core';
import { type KeyInput, useUpdateKey } from '../../api/api-keys.ts';
import { useCan, useCanIn } from '../../api/session.ts';
import type { ApiKey } from '../../api/types.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useForm } from '../../ui/form.ts';
import { checkKey, KeyFields, type KeyValues, keyInput, keyValues } from './key-fields.tsx';

export function EditKey(props: { apiKey: ApiKey; onClose(): void; onSaved(): void }) {
  const { apiKey } = props;
  const update = useUpdateKey(apiKey.id);
  const can = useCan();
  const canThere = useCanIn(apiKey.workspace_id ?? '');
  const form = useForm<KeyValues & { reset_usage: boolean }>({
    initial: { ...keyValues(apiKey), reset_usage: false },
    check: checkKey,
    async send(values) {
      const changes: KeyInput = {
        ...differing(keyInput(keyValues(apiKey)), keyInput(values)),
        ...(values.reset_usage && { reset_usage: true }),
      };
      if (Object.keys(changes).length > 0) await update.mutateAsync(changes);
      props.onSaved();
    },
  });
  return (
    <FormDialog title={`Edit “${apiKey.name}”`} form={form} action="Save" onClose={props.onClose} size="lg">
      <KeyFields form={form} type={apiKey.type} mayGrant={apiKey.workspace_id ? canThere : can} />
      {apiKey.usage_limits && (
        <Checkbox
          label="Set what was used back to zero now"
          checked={form.values.reset_usage}
          onChange={(event) => form.set('reset_usage', event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

/** The fields of `after` that say something else than those of `before`. */
function differing(before: KeyInput, after: KeyInput): KeyInput {
  const known = new Map(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(known.get(name)) !== JSON.stringify(value)),
  );
}
