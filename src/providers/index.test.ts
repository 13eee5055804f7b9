/** The registry: every provider that there should be, each under one name and its aliases. */
import { describe, expect, test } from 'bun:test';
import { allProviders, providers } from './index.ts';

const expected = `
  openai azure-openai azure-ai github anthropic claude-platform-aws bedrock bedrock-mantle
  sagemaker vertex-ai google palm cohere mistral-ai together-ai groq
  perplexity-ai deepinfra fireworks-ai openrouter deepseek x-ai cerebras sambanova
  moonshot dashscope zhipu z-ai siliconflow novita-ai nebius nscale
  hyperbolic huggingface ollama workers-ai replicate oracle stability-ai voyage
  jina nomic ai21 reka-ai predibase segmind recraft-ai cortex
  bytez triton modal lemonfox-ai kluster-ai upstage monsterapi lepton
  lingyi lambda inference-net featherless-ai nextbit ncompass anyscale deepbricks
  krutrim 302ai cometapi matterai aibadgr iointelligence ovhcloud meshy
  tripo3d milvus qdrant databricks byteplus deepgram fal-ai minimax
  lightning-ai ember-cloud scenario-ai pinecone local-ai vllm nvidia-nim elevenlabs
  watsonx baseten volcengine vercel-ai-gateway meta-llama github-copilot sarvam amazon-nova
  runware runway black-forest-labs aws-polly gigachat sgl lm-studio opencode
  assemblyai soniox friendliai wandb parasail scaleway venice chutes
  gmi inception morph aiml clarifai gradient-ai poe v0
  nano-gpt modelscope tencent compactifai crusoe helicone aihubmix xiaomi-mimo
  synthetic publicai galadriel empower wafer
`
  .trim()
  .split(/\s+/);

const aliases: Readonly<Record<string, readonly string[]>> = {
  openai: ['open-ai'],
  'azure-openai': ['azure'],
  'azure-ai': ['azure-ai-inference', 'azure-foundry'],
  bedrock: ['aws-bedrock'],
  sagemaker: ['aws-sagemaker'],
  'vertex-ai': ['google-vertex-ai'],
  google: ['gemini'],
  'together-ai': ['together'],
  'perplexity-ai': ['perplexity'],
  'fireworks-ai': ['fireworks'],
  'x-ai': ['xai'],
  dashscope: ['qwen', 'alibaba'],
  zhipu: ['zhipuai', 'bigmodel'],
  'novita-ai': ['novita'],
  'workers-ai': ['cloudflare'],
  oracle: ['oci'],
  voyage: ['voyage-ai', 'voyageai'],
  jina: ['jina-ai', 'jina_ai'],
  nomic: ['nomic-ai'],
  cortex: ['snowflake-cortex', 'snowflake'],
  'lemonfox-ai': ['lemonfox'],
  vllm: ['hosted-vllm'],
  'nvidia-nim': ['nvidia'],
  volcengine: ['doubao'],
  sgl: ['sglang'],
};

describe('the registry', () => {
  test.each(expected)('has %s', (id) => {
    expect(providers.get(id)?.id).toBe(id);
  });

  test.each(Object.entries(aliases))('knows %s by its other names', (id, names) => {
    expect(names.map((name) => providers.get(name)?.id)).toEqual(names.map(() => id));
  });

  test('no two providers share an id or another name', () => {
    const names = allProviders.flatMap(({ id, aliases: others = [] }) => [id, ...others]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('ids are lower-case words joined by hyphens, so that they can stand in headers and addresses', () => {
    expect(allProviders.map(({ id }) => id).filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  });

  test('every setting is named once for its provider, and says what to write there', () => {
    const wrong = allProviders.flatMap(({ id, fields = [] }) =>
      fields
        .filter(({ name, about }, index) => about === '' || fields.findIndex((other) => other.name === name) !== index)
        .map(({ name }) => `${id}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
