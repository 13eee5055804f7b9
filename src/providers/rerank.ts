/** Reranking: the canonical request, and the canonical answer with the best documents first. */
import { ProviderFault, RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import { isObject, numberOf, textOf } from './json.ts';
import type { CallFacts, JsonObject } from './provider.ts';

export interface RerankDocument {
  text: string;
  /** As the client wrote it. */
  raw: string | Readonly<JsonObject>;
}

interface RerankRequest {
  query: string;
  documents: readonly RerankDocument[];
  topN: number | null;
  returnDocuments: boolean;
  /** Fields beyond these: `max_tokens_per_doc`, `rank_fields`, `truncation`. */
  extras: JsonObject;
}

const known = new Set(['model', 'query', 'documents', 'top_n', 'return_documents']);

export function readRerank({ body: json }: CallFacts): RerankRequest {
  const body = new Fields(json);
  const documents = body.list('documents');
  if (!documents || documents.length === 0) {
    throw new RequestFault('documents', 'documents must hold at least one document');
  }
  return {
    query: body.needText('query'),
    documents: documents.map(documentOf),
    topN: body.number('top_n'),
    returnDocuments: body.flag('return_documents') ?? false,
    extras: body.others(known),
  };
}

/** Documents without a `text` are read as a whole. */
function documentOf(document: unknown, index: number): RerankDocument {
  if (typeof document === 'string') return { text: document, raw: document };
  if (isObject(document)) return { text: textOf(document.text) ?? JSON.stringify(document), raw: document };
  throw new RequestFault(`documents[${index}]`, `documents[${index}] must be a string or an object`);
}

interface Ranked {
  index: number;
  score: number;
}

/** Where in an entry of a provider's answer the place and the score stand. */
export function rankedIn(entries: readonly JsonObject[], score: string): Ranked[] {
  return entries.map((entry) => {
    const index = numberOf(entry.index);
    const value = numberOf(entry[score]);
    if (index !== null && value !== null) return { index, score: value };
    throw new ProviderFault(502, `a result has no index or no ${score}: ${JSON.stringify(entry).slice(0, 200)}`);
  });
}

export function writeRerank(
  facts: CallFacts,
  { documents, topN, returnDocuments }: RerankRequest,
  ranked: readonly Ranked[],
  more: { id?: string | null; usage: JsonObject | null; beside?: JsonObject },
): JsonObject {
  const best = ranked.toSorted((one, other) => other.score - one.score).slice(0, topN ?? ranked.length);
  return {
    id: more.id ?? facts.newId('rerank-'),
    object: 'list',
    results: best.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnDocuments && documents[index] && { document: shown(documents[index]) }),
    })),
    model: facts.model,
    usage: more.usage,
    provider: facts.provider,
    ...more.beside,
  };
}

const shown = ({ raw }: RerankDocument): Readonly<JsonObject> => (typeof raw === 'string' ? { text: raw } : raw);

/** A reranker that counts tokens reads them all. */
export const readTokens = (total: number | null): JsonObject | null =>
  total === null ? null : { prompt_tokens: total, total_tokens: total };
