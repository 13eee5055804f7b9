/** Sticky load balancing: who was sent to a target stays with it for a while. */
export interface StickyChoices {
  /** The index of the child chosen before; null when there is none or its time has passed. */
  recall(key: string): number | null;
  remember(key: string, child: number, ttlSeconds: number): void;
}

const choicesKept = 100_000;

export function createStickyChoices(now: () => number): StickyChoices {
  const choices = new Map<string, { child: number; until: number }>();
  return {
    recall(key) {
      const choice = choices.get(key);
      if (!choice) return null;
      if (choice.until > now()) return choice.child;
      choices.delete(key);
      return null;
    },
    remember(key, child, ttlSeconds) {
      if (choices.size >= choicesKept) choices.delete(choices.keys().next().value ?? '');
      choices.set(key, { child, until: now() + ttlSeconds * 1000 });
    },
  };
}
