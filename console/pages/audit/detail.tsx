/** Everything that an audit row holds. */
import { Code, Drawer, Stack, Text } from '@mantine/core';
import type { AuditRow } from '../../api/types.ts';
import { Identifier } from '../../ui/copy.tsx';
import { exact } from '../../ui/moment.tsx';
import { Facts } from '../../ui/page.tsx';
import { AnswerStatus } from '../../ui/status.tsx';
import { words } from '../../ui/words.ts';
import type { Actor } from './actors.ts';

export function AuditDetail(props: { row: AuditRow | null; actor: Actor | null; onClose(): void }) {
  const { row, actor, onClose } = props;
  return (
    <Drawer opened={row !== null} onClose={onClose} position="right" size="lg" title="Audit row">
      {row && actor && <Content row={row} actor={actor} />}
    </Drawer>
  );
}

function Content({ row, actor }: { row: AuditRow; actor: Actor }) {
  const texts = [
    ['Details', row.details ?? ''],
    ['Request body', row.request_body],
    ['Query', row.query_params],
    ['Request headers', row.request_headers],
  ] as const;
  return (
    <Stack gap="lg">
      <Facts
        items={[
          ['Action', `${words(row.resource_type)} · ${row.action}`],
          ['Answer', <AnswerStatus key="answer" code={row.response_status_code} />],
          ['When', exact(row.timestamp)],
          ['Who', actor.detail ? `${actor.name} (${actor.detail})` : actor.name],
          ['From', [row.client_ip, row.country].filter(Boolean).join(', ') || '–'],
          ['Request', `${row.method} ${row.uri}`.trim() || '–'],
          ['Resource id', row.resource_id ? <Identifier key="resource" value={row.resource_id} /> : '–'],
          ['Workspace id', row.workspace_id ? <Identifier key="workspace" value={row.workspace_id} /> : '–'],
          ['Request id', <Identifier key="request" value={row.request_id} />],
        ]}
      />
      {texts.map(([label, text]) =>
        isBlank(text) ? null : (
          <Stack gap={6} key={label}>
            <Text size="sm" fw={550}>
              {label}
            </Text>
            <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {pretty(text)}
            </Code>
          </Stack>
        ),
      )}
    </Stack>
  );
}

const isBlank = (text: string): boolean => text === '' || text === '{}';

/** JSON laid out for reading; a text that was cut short is shown as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
