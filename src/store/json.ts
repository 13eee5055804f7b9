/** JSON kept in a text column, typed: what is written as T is read as T. */
declare const content: unique symbol;
export type JsonText<T> = string & { readonly [content]?: T };

export const encode = <T>(value: T): JsonText<T> => JSON.stringify(value);
export const decode = <T>(text: JsonText<T>): T => JSON.parse(text);
