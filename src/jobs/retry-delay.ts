/** When something that goes outside is tried again: after a minute first, then ever later, and after a day no more. */
const minuteMs = 60_000;
const delays = [1, 5, 15, 60, 180, 360, 720].map((minutes) => minutes * minuteMs);

/** Null: it was tried often enough. */
export const retryDelayMs = (attempts: number): number | null => delays[attempts - 1] ?? null;

export const laterBy = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();
