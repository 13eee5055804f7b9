/** What is being done with a key: at most one thing at a time. */
import { useDeleteKey, useRevealKey } from '../../api/api-keys.ts';
import type { ApiKey } from '../../api/types.ts';
import { setSearch } from '../../router/router.tsx';
import { Confirm } from '../../ui/dialogs.tsx';
import { useTell } from '../../ui/notice.tsx';
import { EditKey } from './edit.tsx';
import { RotateKey } from './rotate.tsx';
import type { ShownSecret } from './secret.tsx';

export interface KeyTask {
  kind: 'edit' | 'rotate' | 'reveal' | 'delete';
  apiKey: ApiKey;
}

interface TaskProps {
  apiKey: ApiKey;
  onEnd(): void;
  onSecret(shown: ShownSecret): void;
}

export function KeyTasks({ task, onEnd, onSecret }: { task: KeyTask } & Omit<TaskProps, 'apiKey'>) {
  const tell = useTell();
  const props: TaskProps = { apiKey: task.apiKey, onEnd, onSecret };
  switch (task.kind) {
    case 'edit':
      return (
        <EditKey
          apiKey={task.apiKey}
          onClose={onEnd}
          onSaved={() => {
            onEnd();
            tell(`The key “${task.apiKey.name}” was saved.`);
          }}
        />
      );
    case 'rotate':
      return (
        <RotateKey
          apiKey={task.apiKey}
          onClose={onEnd}
          onRotated={(shown) => {
            onEnd();
            onSecret(shown);
          }}
        />
      );
    case 'reveal':
      return <RevealKey {...props} />;
    default:
      return <DeleteKey {...props} />;
  }
}

function RevealKey({ apiKey, onEnd, onSecret }: TaskProps) {
  const reveal = useRevealKey(apiKey.id);
  return (
    <Confirm
      title={`Reveal the secret of “${apiKey.name}”?`}
      action="Reveal"
      onClose={onEnd}
      run={async () => {
        const { key } = await reveal.mutateAsync(null);
        onEnd();
        onSecret({ title: 'The secret', keyName: apiKey.name, secret: key, transitionEnd: null });
      }}
    >
      A secret that the service made by itself can be seen once. The audit log will say that you saw it.
    </Confirm>
  );
}

function DeleteKey({ apiKey, onEnd }: TaskProps) {
  const remove = useDeleteKey(apiKey.id);
  const tell = useTell();
  return (
    <Confirm
      title={`Delete “${apiKey.name}”?`}
      action="Delete"
      typed={apiKey.name}
      onClose={onEnd}
      run={async () => {
        await remove.mutateAsync(null);
        onEnd();
        setSearch({ key: '' });
        tell(`The key “${apiKey.name}” was deleted.`);
      }}
    >
      Every program that uses this key is refused from this moment. A deleted key cannot be brought back.
    </Confirm>
  );
}
