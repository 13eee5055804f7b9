/** Whether an answer holds code of a language. */
import { z } from 'zod';
import { defineCheck, excerptOf, failedCheck } from '../check.ts';
import { after } from './events.ts';
import { not } from './fields.ts';
import { fencesIn } from './json-candidates.ts';

const formats = [
  'SQL',
  'Python',
  'TypeScript',
  'JavaScript',
  'Java',
  'C#',
  'C++',
  'C',
  'Ruby',
  'PHP',
  'Swift',
  'Kotlin',
  'Go',
  'Rust',
  'Scala',
  'R',
  'Perl',
  'Shell',
  'HTML',
  'CSS',
  'XML',
  'JSON',
  'YAML',
  'Markdown',
  'Dockerfile',
] as const;

/** Tags that are not simply a format in lower case. */
const byTag: Readonly<Record<string, string>> = {
  py: 'Python',
  gyp: 'Python',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  js: 'JavaScript',
  jsx: 'JavaScript',
  cs: 'C#',
  csharp: 'C#',
  cpp: 'C++',
  rb: 'Ruby',
  kt: 'Kotlin',
  rs: 'Rust',
  golang: 'Go',
  pl: 'Perl',
  sh: 'Shell',
  bash: 'Shell',
  zsh: 'Shell',
  yml: 'YAML',
  md: 'Markdown',
  ...Object.fromEntries(formats.map((format) => [format.toLowerCase(), format])),
};

export const containsCode = defineCheck({
  id: 'default.containsCode',
  title: 'Contains code',
  description: 'Passes when a fenced block of the answer is marked as code of the language.',
  category: 'BASIC',
  events: after,
  parameters: () => ({ format: z.enum(formats), not: not() }),
  example: { format: 'SQL', not: true },
  prepare: ({ format, not: inverted }) => ({
    run({ text }) {
      if (text === '') return failedCheck('there is no text to look for code in');
      const tags = fencesIn(text).flatMap(({ tag }) => (tag === '' ? [] : [tag.split(/[\s{:]/, 1)[0] ?? '']));
      const foundFormats = [...new Set(tags.map((tag) => byTag[tag.toLowerCase()] ?? tag))];
      const found = foundFormats.includes(format);
      const verdict = tags.length === 0 ? inverted : found !== inverted;
      return {
        verdict,
        data: {
          searchedFormat: format,
          not: inverted,
          verdict,
          foundFormats,
          explanation: `${found ? 'There is' : 'There is no'} ${format} code in the text.`,
          textExcerpt: excerptOf(text),
        },
      };
    },
  }),
});
