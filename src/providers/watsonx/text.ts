/** Completions, embeddings and reranking on watsonx.ai. */
import { isVector, readEmbeddings, textsOf, writeEmbeddings } from '../embeddings.ts';
import { RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { rankedIn, readRerank, readTokens, writeRerank } from '../rerank.ts';
import { payer } from './project.ts';

const known = new Set('model prompt max_tokens temperature top_p top_k stop seed stream user n'.split(' '));

export const generation: Translation = {
  request(facts) {
    const body = new Fields(facts.body);
    if (facts.stream) throw new RequestFault('stream', 'completions of watsonx.ai do not stream here: use chat');
    const stop = body.texts('stop');
    const temperature = body.number('temperature');
    return {
      ...payer(facts),
      input: body.needText('prompt'),
      parameters: present({
        decoding_method: temperature === null || temperature === 0 ? 'greedy' : 'sample',
        max_new_tokens: body.number('max_tokens'),
        temperature: temperature === 0 ? null : temperature,
        top_p: body.number('top_p'),
        top_k: body.number('top_k'),
        random_seed: body.number('seed'),
        stop_sequences: stop.length > 0 ? stop : null,
        ...body.others(known),
      }),
    };
  },
  response(answer, { model, provider, now, newId }) {
    const results = objectsOf(objectOf(answer).results);
    const input = countOf(results[0]?.input_token_count);
    const output = results.reduce((sum, result) => sum + countOf(result.generated_token_count), 0);
    return {
      id: newId('cmpl-'),
      object: 'text_completion',
      created: now(),
      model,
      choices: results.map((result, index) => ({
        index,
        text: textOf(result.generated_text) ?? '',
        logprobs: null,
        finish_reason: textOf(result.stop_reason) === 'max_tokens' ? 'length' : 'stop',
      })),
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      provider,
    };
  },
};

export const embeddings: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    const parameters = present({ ...request.extras });
    return {
      ...payer(facts),
      inputs: textsOf(request),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
  },
  response(answer, facts) {
    const { results, input_token_count } = objectOf(answer);
    const vectors = objectsOf(results).map(({ embedding }) => embedding);
    const { encoding } = readEmbeddings(facts);
    return writeEmbeddings(facts, vectors.filter(isVector), encoding, numberOf(input_token_count));
  },
};

export const rerank: Translation = {
  request(facts) {
    const { query, documents, topN, extras } = readRerank(facts);
    return {
      ...payer(facts),
      query,
      inputs: documents.map(({ text }) => ({ text })),
      parameters: { return_options: present({ top_n: topN }), ...extras },
    };
  },
  response(answer, facts) {
    const { results, input_token_count } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(results), 'score'), {
      usage: readTokens(numberOf(input_token_count)),
    });
  },
};

export const models: Translation = {
  response: (answer) => ({
    object: 'list',
    data: objectsOf(objectOf(answer).resources).map((model) => ({
      ...model,
      id: textOf(model.model_id) ?? '',
      object: 'model',
      created: 0,
      owned_by: textOf(model.provider) ?? 'ibm',
    })),
  }),
};
