/** Hashing of passwords, and the lanes that keep it from taking the machine. */
import { describe, expect, test } from 'bun:test';
import { createLanes, createPasswords, passwordSchema } from './passwords.ts';

describe('passwords', () => {
  const passwords = createPasswords();

  test('a password matches its own hash and no other', async () => {
    const hash = await passwords.hash('correct horse battery');
    expect(hash).toStartWith('$argon2id$');
    expect(hash).toContain('m=19456,t=2');
    expect(hash).not.toBe(await passwords.hash('correct horse battery'));
    expect(await passwords.verify('correct horse battery', hash)).toBe(true);
    expect(await passwords.verify('correct horse batterz', hash)).toBe(false);
  });

  test('without a hash nothing matches, not even the decoy', async () => {
    expect(await passwords.verify('a password that nobody has', null)).toBe(false);
  });

  test('without a hash the check takes about as long as with one', async () => {
    const hash = await passwords.hash('correct horse battery');
    const time = async (against: string | null) => {
      const start = performance.now();
      for (let i = 0; i < 5; i++) await passwords.verify('a guess', against);
      return performance.now() - start;
    };
    await time(null);
    const [known, unknown] = [await time(hash), await time(null)];
    // A check that skipped the hashing would be hundreds of times faster.
    expect(unknown).toBeGreaterThan(known / 4);
  });

  test('a password has 12 to 200 characters', () => {
    expect(passwordSchema().safeParse('x'.repeat(11)).success).toBe(false);
    expect(passwordSchema().safeParse('x'.repeat(12)).success).toBe(true);
    expect(passwordSchema().safeParse('x'.repeat(201)).success).toBe(false);
  });
});

describe('lanes', () => {
  test('no more pieces of work run at once than there are lanes, whenever they arrive', async () => {
    const lanes = createLanes(2);
    let running = 0;
    let most = 0;
    const work = () =>
      lanes(async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
      });
    // Newcomers arrive exactly when a lane is handed on.
    const chained = Array.from({ length: 10 }, () => work().then(work).then(work));
    await Promise.all(chained);
    expect(most).toBe(2);
    expect(running).toBe(0);
  });

  test('work that fails gives its lane back', async () => {
    const lanes = createLanes(1);
    await expect(lanes(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lanes(async () => 'next')).toBe('next');
  });
});
