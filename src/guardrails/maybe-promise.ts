/** What is known at once as a rule, and otherwise later. */
export type MaybePromise<T> = T | Promise<T>;
