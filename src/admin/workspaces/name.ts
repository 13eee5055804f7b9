/** Workspace names: the icon is one emoji, stored apart from the plain name and shown in front of it. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** The second and third forms take in sequences that are younger than this program's tables. */
const emoji = /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}.*|\p{Extended_Pictographic}[\u{FE0F}\u{200D}].*)$/v;

/** What a reader sees as the first character, however many code points it is made of. */
function firstGrapheme(text: string): string {
  const [first] = graphemes.segment(text);
  return first?.segment ?? '';
}

export const isOneEmoji = (text: string): boolean => firstGrapheme(text) === text && emoji.test(text);

/** The leading emoji and the rest; a name that is nothing but an emoji keeps it. */
export function splitIcon(text: string): { icon: string | null; name: string } {
  const first = firstGrapheme(text);
  const rest = text.slice(first.length).trim();
  return emoji.test(first) && rest !== '' ? { icon: first, name: rest } : { icon: null, name: text };
}

export type NameFormat = 'display' | 'plain';

export const shownName = (workspace: { name: string; icon: string | null }, format: NameFormat): string =>
  format === 'display' && workspace.icon !== null ? `${workspace.icon} ${workspace.name}` : workspace.name;

/** True when `text` is the workspace's name, with the icon in front or without. */
export const isNameOf = (workspace: { name: string; icon: string | null }, text: string): boolean =>
  [text, splitIcon(text).name].includes(workspace.name);

interface StoredName {
  name?: string;
  icon?: string | null;
}

/** What a caller who sends a name, an icon or both wants stored. An icon that is sent replaces an emoji in front of the name. */
export function storedName(name: string, icon: string | null | undefined): StoredName & { name: string };
export function storedName(name: string | undefined, icon: string | null | undefined): StoredName;
export function storedName(name: string | undefined, icon: string | null | undefined): StoredName {
  const split = name === undefined ? null : splitIcon(name);
  // A name without an emoji says nothing about the icon.
  const chosen = icon === undefined ? (split?.icon ?? undefined) : icon || null;
  return { ...(split && { name: split.name }), ...(chosen !== undefined && { icon: chosen }) };
}
