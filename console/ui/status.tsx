/** States and roles as badges: the same word has the same colour everywhere. */
import { Badge } from '@mantine/core';
import { words } from './words.ts';

const colours: Record<string, string> = {
  active: 'teal',
  accepted: 'teal',
  pending: 'blue',
  exhausted: 'orange',
  expired: 'orange',
  archived: 'gray',
  cancelled: 'gray',
  owner: 'lagoon',
  admin: 'lagoon',
  manager: 'blue',
  member: 'gray',
};

export const Status = ({ value }: { value: string }) => <Badge color={colours[value] ?? 'gray'}>{words(value)}</Badge>;

/** The status of an answer, by its hundreds. */
export const AnswerStatus = ({ code }: { code: number }) => (
  <Badge color={code < 400 ? 'teal' : code < 500 ? 'orange' : 'red'} className="gw-numbers">
    {code}
  </Badge>
);
