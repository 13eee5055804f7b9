/** JSON as it comes in pieces, without the escapes that it does not need: what a check looks for cannot be spelled in them. */

/** An escape that may not be complete, or the half of a character. */
const unfinished = /(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\(?:u[0-9a-fA-F]{0,3})?$|\\u[dD][89abAB][0-9a-fA-F]{2}$/;
const escapes = /\\(?:u([0-9a-fA-F]{4})|.)/gs;

export class JsonText {
  #held = '';

  /** What can be read by now; all of it where the text is at its end. */
  push(text: string, final: boolean): string {
    const all = this.#held + text;
    const start = final || !all.includes('\\') ? -1 : openFrom(all);
    this.#held = start === -1 ? '' : all.slice(start);
    const ready = start === -1 ? all : all.slice(0, start);
    return ready.includes('\\u') ? ready.replace(escapes, plain) : ready;
  }
}

/** Where the end may be the beginning of an escape; -1 where it is none. A backslash that is escaped itself begins nothing. */
function openFrom(text: string): number {
  const at = text.search(unfinished);
  if (at === -1) return -1;
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes++;
  if (slashes % 2 === 0) return at;
  return -1;
}

/** Quotes, backslashes and control characters stay as they are. */
function plain(written: string, code: string | undefined): string {
  if (code === undefined) return written;
  const unit = Number.parseInt(code, 16);
  return unit < 0x20 || unit === 0x22 || unit === 0x5c ? written : String.fromCharCode(unit);
}
