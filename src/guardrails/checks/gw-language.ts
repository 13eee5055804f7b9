/** The language of a text, by the frequency of its trigrams. */
import { francAll } from 'franc';
import { z } from 'zod';
import { type CheckResult, defineCheck, excerptOf, failedCheck } from '../check.ts';
import { both } from './events.ts';
import { not } from './fields.ts';
import { backendOf, gwCredentials, labels } from './gw-backend.ts';

/** Our codes for those of the trigram model. */
const codes: Readonly<Record<string, readonly string[]>> = {
  eng: ['eng_Latn'],
  cmn: ['zho_Hans'],
  spa: ['spa_Latn'],
  arb: ['ara_Arab', 'arb_Latn'],
  por: ['por_Latn'],
  ind: ['ind_Latn'],
  fra: ['fra_Latn'],
  jpn: ['jpn_Jpan'],
  rus: ['rus_Cyrl'],
  deu: ['deu_Latn'],
  kor: ['kor_Hang'],
  tur: ['tur_Latn'],
  ita: ['ita_Latn'],
  pes: ['pes_Arab', 'fas_Arab'],
  pol: ['pol_Latn'],
  vie: ['vie_Latn'],
  nld: ['nld_Latn'],
  hin: ['hin_Deva'],
  tha: ['tha_Thai'],
  heb: ['heb_Hebr'],
  ben: ['ben_Beng'],
  swe: ['swe_Latn'],
  ces: ['ces_Latn'],
  ron: ['ron_Latn'],
  ell: ['ell_Grek'],
  ukr: ['ukr_Cyrl'],
  dan: ['dan_Latn'],
  fin: ['fin_Latn'],
  nob: ['nor_Latn'],
  nno: ['nor_Latn'],
  hun: ['hun_Latn'],
  cat: ['cat_Latn'],
  bul: ['bul_Cyrl'],
  zlm: ['msa_Latn'],
  hrv: ['hrv_Latn'],
  slk: ['slk_Latn'],
  lit: ['lit_Latn'],
  lav: ['lav_Latn'],
  lvs: ['lav_Latn'],
  srp: ['srp_Cyrl'],
  slv: ['slv_Latn'],
  ekk: ['est_Latn'],
  est: ['est_Latn'],
  urd: ['urd_Arab'],
  tgl: ['fil_Latn'],
  azj: ['aze_Latn'],
  tam: ['tam_Taml'],
  tel: ['tel_Telu'],
  mar: ['mar_Deva'],
  kan: ['kan_Knda'],
};

export const languageCodes = [...new Set(Object.values(codes).flat())] as [string, ...string[]];

/** The model reads no more than this, and more says no more. */
const longestRead = 2_048;

export const gwLanguage = defineCheck({
  id: 'gw.language',
  title: 'Language',
  description: 'Passes when the text is in one of the languages. Short texts are guessed with less certainty.',
  category: 'PRO',
  events: both,
  network: { timeoutMs: 5_000, credentials: gwCredentials },
  parameters: () => ({
    language: z.union([z.enum(languageCodes), z.array(z.enum(languageCodes)).min(1).max(50)]),
    not: not(),
  }),
  example: { language: ['eng_Latn', 'deu_Latn'] },
  prepare({ language, not: inverted }, setup) {
    const allowed = Array.isArray(language) ? language : [language];
    const backend = backendOf(setup);
    const judged = (text: string, detected: readonly string[], analysis: unknown): CheckResult => {
      const verdict = detected.some((code) => allowed.includes(code)) !== inverted;
      const explanation = `The text is in ${detected[0] ?? 'an unknown language'}.`;
      return {
        verdict,
        data: {
          verdict,
          not: inverted,
          explanation,
          analysis,
          detectedLanguage: detected[0] ?? null,
          allowedLanguages: allowed,
          textExcerpt: excerptOf(text),
        },
      };
    };
    return {
      run({ text }, io) {
        if (text.trim() === '') return failedCheck('there is no text to look at', true);
        if (!backend) {
          const ranked = languagesOf(text);
          return judged(text, codes[ranked[0]?.code ?? ''] ?? [], ranked.slice(0, 5));
        }
        return backend('language', { input: text }, io).then(({ answer, log }) => {
          const parsed = labels().safeParse(answer);
          const top = parsed.success ? parsed.data[0]?.toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0))[0] : null;
          if (!top) return { ...failedCheck('the service answered in a form that is not known'), log };
          return { ...judged(text, [top.label], answer), log };
        });
      },
    };
  },
});

interface Ranked {
  code: string;
  score: number;
}

function languagesOf(text: string): Ranked[] {
  const only = Object.keys(codes);
  const ranked = francAll(text.slice(0, longestRead), { only, minLength: 1 })
    .filter(([code]) => code in codes)
    .map(([code, score]) => ({ code, score }));
  return byFunctionWords(text.slice(0, longestRead), ranked);
}

/** Words that tell languages of one script apart in a sentence or two, where trigrams are too few. */
const functionWords: Readonly<Record<string, string>> = {
  eng: 'the and of to is in you that it for are was with what how have this not can please',
  deu: 'der die das und ist nicht ich ein eine zu mit auf für sie es wie bitte auch von den',
  fra: 'le la les et est des une un je vous que pour dans pas qui sur avec ce il bonjour',
  spa: 'el la los las y es que de un una por para con no en está cómo hola usted del',
  por: 'o a os as e é que de um uma por para com não em está como olá você do',
  ita: 'il lo la gli e è che di un una per con non in sono come ciao della del si',
  nld: 'de het een en is niet ik van dat op voor met zijn je hoe wat naar ook aan te',
  swe: 'och att det är en som på jag inte för med av den har hur vad du till ett om',
  dan: 'og at det er en som på jeg ikke for med af den har hvordan hvad du til et om',
  nob: 'og at det er en som på jeg ikke for med av den har hvordan hva du til et om',
  pol: 'i w nie na się z że to jest do jak co czy tak po od dla ale przez być',
  tur: 've bir bu için ile da de ne çok mi ben sen nasıl var değil ama gibi daha olarak',
  fin: 'ja on ei se että en minä hän oli mutta kun niin kuin ovat mitä miten sinä tai jos',
  ind: 'yang dan di ini itu dengan untuk tidak dari dalam akan pada saya apa adalah ke kamu bisa',
};

const wordSets = Object.entries(functionWords).map(([code, words]) => ({ code, words: new Set(words.split(' ')) }));
const shortText = 200;

function byFunctionWords(text: string, ranked: Ranked[]): Ranked[] {
  if (text.length > shortText || !/\p{Script=Latin}/u.test(text)) return ranked;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = wordSets
    .map(({ code, words: known }) => ({ code, count: words.filter((word) => known.has(word)).length }))
    .sort((a, b) => b.count - a.count);
  const [best, second] = counted;
  if (!best || best.count === 0 || best.count === second?.count) return ranked;
  return [{ code: best.code, score: 1 }, ...ranked.filter(({ code }) => code !== best.code)];
}
