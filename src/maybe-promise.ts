/** What is known at once as a rule, and otherwise soon: waiting for what is there costs more than it seems. */
export type MaybePromise<T> = T | Promise<T>;
