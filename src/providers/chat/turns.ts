/** Views of a conversation that several families need: system text apart, neighbours merged, names of the tools that were called. */
import type {
  AssistantTurn,
  Conversation,
  MediaPart,
  TextPart,
  ToolResultPart,
  UserPart,
  UserTurn,
} from './conversation.ts';
import { unsupported } from './media.ts';

export interface Hoisted {
  system: readonly TextPart[];
  /** Users and assistants in turn: neighbours of one role are one turn. */
  turns: readonly (UserTurn | AssistantTurn)[];
}

/** For families that keep system text apart. A conversation of nothing else becomes a user's. */
export function hoisted({ turns }: Conversation): Hoisted {
  const system = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts : [])).filter(hasText);
  const spoken = merged(turns.filter((turn) => turn.role !== 'system'));
  if (spoken.length > 0 || system.length === 0) return { system, turns: spoken };
  return { system: [], turns: [{ role: 'user', parts: system }] };
}

export const hasText = (part: { text: string }): boolean => part.text.trim() !== '';

function merged(turns: readonly (UserTurn | AssistantTurn)[]): (UserTurn | AssistantTurn)[] {
  const runs: (UserTurn | AssistantTurn)[][] = [];
  for (const turn of turns) {
    const run = runs.at(-1);
    if (run?.[0]?.role === turn.role) run.push(turn);
    else runs.push([turn]);
  }
  return runs.map(asOne);
}

/** Turns of one role. */
function asOne(run: readonly (UserTurn | AssistantTurn)[]): UserTurn | AssistantTurn {
  const users = run.filter((turn) => turn.role === 'user');
  if (users.length > 0) return { role: 'user', parts: users.flatMap(({ parts }) => parts) };
  const assistants = run.filter((turn) => turn.role === 'assistant');
  return { role: 'assistant', parts: assistants.flatMap(({ parts }) => parts) };
}

/** The name of each called tool, by the call's id. */
export function calledTools({ turns }: Conversation): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    for (const part of turn.parts) if (part.type === 'tool-call') names.set(part.id, part.name);
  }
  return names;
}

/** Results of tools, and what the user says besides: families want the results first, or as messages of their own. */
export const resultsApart = (
  parts: readonly UserPart[],
): { results: ToolResultPart[]; said: (TextPart | MediaPart)[] } => ({
  results: parts.filter((part) => part.type === 'tool-result'),
  said: parts.filter((part) => part.type !== 'tool-result'),
});

/** For families whose results hold text only: what they show besides. */
export const shownIn = (results: readonly ToolResultPart[]): MediaPart[] =>
  results.flatMap(({ content }) => content.filter((part) => part.type === 'media'));

/** Every image, sound and document, also those inside tool results. */
export const mediaIn = ({ turns }: Conversation): MediaPart[] =>
  turns.flatMap((turn) =>
    turn.role === 'system'
      ? []
      : turn.parts.flatMap((part) => {
          if (part.type === 'media') return [part];
          return part.type === 'tool-result' ? part.content.filter((inner) => inner.type === 'media') : [];
        }),
  );

/** The addresses on the web among the media: for families that take bytes only. */
export const webMedia = (conversation: Conversation): string[] =>
  mediaIn(conversation).flatMap(({ source }) =>
    source.from === 'url' && /^https?:/i.test(source.url) ? [source.url] : [],
  );

/** What an assistant said, for families that take nothing but its text: that it refused is said like anything else. */
export function saidBy({ parts }: AssistantTurn, family: string): string {
  const shown = parts.find((part) => part.type === 'media');
  if (shown) throw unsupported('messages', family, `${shown.kind} in an assistant's message`);
  return parts.map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text : '')).join('');
}

/** The text of several parts as one. */
export const joinedText = (parts: readonly { type: string; text?: string }[]): string =>
  parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
