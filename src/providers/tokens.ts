/** About how many tokens a text comes to, for calls whose usage nobody reports: fitted to the vocabularies that OpenAI publishes. */

/** What a text is made of costs so many tokens each. */
interface Weights {
  word: number;
  /** Each letter of a word beyond the eighth. */
  longWord: number;
  /** A capital inside of a word. */
  hump: number;
  digit: number;
  /** A sign right before a word mostly belongs to it. */
  attachedSign: number;
  sign: number;
  furtherSign: number;
  /** A new line that does not follow a sign, and what it is indented by. */
  line: number;
  indent: number;
  ideogram: number;
  arabicWord: number;
  arabicLetter: number;
  otherWord: number;
  otherLetter: number;
}

const o200k: Weights = {
  word: 1,
  longWord: 0.08,
  hump: 0.31,
  digit: 0.21,
  attachedSign: 0.14,
  sign: 1.2,
  furtherSign: 0.15,
  line: 1.06,
  indent: 1.2,
  ideogram: 0.69,
  arabicWord: 0.96,
  arabicLetter: 0.145,
  otherWord: 0.86,
  otherLetter: 0.15,
};

/** Older models know few words that are not written in Latin letters. */
const cl100k: Weights = {
  ...o200k,
  ideogram: 1.2,
  arabicWord: 0,
  arabicLetter: 0.84,
  otherWord: 0,
  otherLetter: 0.6,
};

const olderModels = /^(?:openai\/)?(?:gpt-3\.5|gpt-4(?![o.\d])|text-embedding|text-davinci|babbage|davinci)/;

const other = 0;
const letter = 1;
const digit = 2;
const sign = 3;
const line = 4;
const space = 5;
const ideogram = 6;
const arabic = 7;

function kindOf(code: number): number {
  if (code < 0x80) {
    if ((code >= 97 && code <= 122) || isCapital(code)) return letter;
    if (code >= 48 && code <= 57) return digit;
    if (code === 10 || code === 13) return line;
    return code <= 32 ? space : sign;
  }
  if (code < 0x250) return letter;
  if (code < 0x600) return other;
  if (code < 0x780) return arabic;
  if (code < 0x2000) return other;
  if (code < 0x3040 || code >= 0xff00) return sign;
  if (code <= 0x30ff || (code >= 0x3400 && code <= 0x9fff)) return ideogram;
  return code >= 0xac00 && code <= 0xd7a3 ? ideogram : other;
}

const isCapital = (code: number): boolean => code >= 65 && code <= 90;
const shortWord = 8;

export function tokensIn(text: string, model = ''): number {
  const weights = olderModels.test(model) ? cl100k : o200k;
  let tokens = 0;
  let before = space;
  let codeBefore = 0;
  let wordLength = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = kindOf(code);
    switch (kind) {
      case letter:
        if (before !== letter) {
          tokens += weights.word;
          wordLength = 1;
        } else {
          wordLength++;
          if (wordLength > shortWord) tokens += weights.longWord;
          if (isCapital(code) && !isCapital(codeBefore)) tokens += weights.hump;
        }
        break;
      case digit:
        tokens += weights.digit;
        break;
      case sign:
        if (before === sign) tokens += weights.furtherSign;
        else {
          const attached = index + 1 < text.length && kindOf(text.charCodeAt(index + 1)) === letter;
          tokens += attached ? weights.attachedSign : weights.sign;
        }
        break;
      case line:
        if (before !== line && before !== sign) tokens += weights.line;
        break;
      case space:
        if (before === line) tokens += weights.indent;
        break;
      case ideogram:
        tokens += weights.ideogram;
        break;
      case arabic:
        tokens += weights.arabicLetter + (before === arabic ? 0 : weights.arabicWord);
        break;
      default:
        tokens += weights.otherLetter + (before === other ? 0 : weights.otherWord);
    }
    before = kind;
    codeBefore = code;
  }
  return tokens;
}
