/** Names with icons: taken apart to be kept, put together to be shown. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isNameOf, isOneEmoji, shownName, splitIcon, storedName } from './name.ts';

const emojis = {
  'a plain emoji': '🚀',
  'a joined sequence': '👩‍💻',
  'a family of four': '👨‍👩‍👧‍👦',
  'a skin tone': '👍🏽',
  'a flag': '🇩🇪',
  'a flag made of tags': '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a keycap': '1️⃣',
  'a sign with emoji style': '❤️',
};

describe('workspace names', () => {
  for (const [kind, icon] of Object.entries(emojis)) {
    test(`${kind} in front of the name becomes the icon whole`, () => {
      expect(splitIcon(`${icon} Team`)).toEqual({ icon, name: 'Team' });
      expect(splitIcon(`${icon}Team`)).toEqual({ icon, name: 'Team' });
      expect(isOneEmoji(icon)).toBe(true);
    });
  }

  test('letters, digits and signs in text style are part of the name', () => {
    for (const name of ['Team', '1st team', '#ops', '© Company', 'Équipe', '❤ text', '日本']) {
      expect(splitIcon(name)).toEqual({ icon: null, name });
    }
  });

  test('a name that is nothing but an emoji keeps it', () => {
    expect(splitIcon('🚀')).toEqual({ icon: null, name: '🚀' });
  });

  test('only one emoji is taken, so that no character of the name is lost', () => {
    expect(splitIcon('🚀🚀 Team')).toEqual({ icon: '🚀', name: '🚀 Team' });
  });

  test('text and several emojis are no icon', () => {
    for (const text of ['rocket', '🚀🚀', 'A', ' ']) expect(isOneEmoji(text)).toBe(false);
  });

  test('an icon that is sent wins over the emoji in front of the name', () => {
    expect(storedName('🚀 Team', '🎯')).toEqual({ name: 'Team', icon: '🎯' });
    expect(storedName('🚀 Team', '')).toEqual({ name: 'Team', icon: null });
  });

  test('a name without an emoji leaves the icon alone', () => {
    expect(storedName('Team', undefined)).toEqual({ name: 'Team' });
    expect(storedName(undefined, undefined)).toEqual({});
  });

  test('whatever is stored is recognised by the name it is shown with, in both forms', () => {
    const icon = fc.constantFrom(...Object.values(emojis), null);
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => text.trim());
    fc.assert(
      fc.property(
        icon,
        name.filter((text) => text !== ''),
        (sentIcon, sentName) => {
          const workspace = { icon: null, ...storedName(sentName, sentIcon ?? undefined) };
          expect(isNameOf(workspace, shownName(workspace, 'display'))).toBe(true);
          expect(isNameOf(workspace, shownName(workspace, 'plain'))).toBe(true);
        },
      ),
    );
  });
});
