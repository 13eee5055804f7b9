/** JSON that is nested deeper than anybody can write it again: it is found out before it is parsed. */

/** Nothing that is shorter can be nested so deep that it matters. */
const harmlessLength = 16_384;
const deepest = 1_000;

const quote = 34;
const backslash = 92;

/** Writing what is nested deeper than the stack holds takes more than a second before it fails, and everybody waits. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= harmlessLength) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfString(text, index);
    else if (code === openList || code === openObject) {
      if (++depth > deepest) return true;
    } else if (code === closeList || code === closeObject) depth--;
  }
  return false;
}

const openList = 91;
const closeList = 93;
const openObject = 123;
const closeObject = 125;

/** Where the string that opens here closes; long ones, such as images, are leapt over. */
function endOfString(text: string, opening: number): number {
  for (let from = opening + 1; ; ) {
    const closing = text.indexOf('"', from);
    if (closing === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(closing - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return closing;
    from = closing + 1;
  }
}
