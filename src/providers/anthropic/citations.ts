/** Where statements come from: pages on the web in OpenAI's form, everything else as the provider tells it. */
import type { Annotation } from '../chat/answer.ts';
import { present } from '../json.ts';
import type { JsonObject } from '../provider.ts';

/** The text that the citations belong to, by its place in the whole answer. */
interface Range {
  from: number;
  to: number;
}

interface Citations {
  annotations: Annotation[];
  others: JsonObject[];
}

export function readCitations(citations: readonly JsonObject[], range: Range): Citations {
  const onTheWeb = citations.filter(isOnTheWeb);
  return {
    annotations: onTheWeb.map((citation) => annotationOf(citation, range)),
    others: citations.filter((citation) => !isOnTheWeb(citation)),
  };
}

const isOnTheWeb = ({ type }: JsonObject): boolean => type === 'web_search_result_location';

const annotationOf = ({ url, title }: JsonObject, { from, to }: Range): Annotation => ({
  type: 'url_citation',
  url_citation: present({ url, title, start_index: from, end_index: to }),
});
