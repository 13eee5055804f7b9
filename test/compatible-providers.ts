/** What each OpenAI-compatible provider must be: where it stands, what it offers, and under which paths. Kept by hand, apart from the providers themselves. */
import type { EndpointKind } from '../src/providers/endpoints.ts';

export interface Expected {
  id: string;
  /** Null where it is given with the target. */
  address: string | null;
  /** Kinds under the path of their route. */
  offers: string;
  /** Other paths below the address; `{model}` stands for the model. */
  paths?: Partial<Record<EndpointKind, string>>;
  /** Paths at the root of the host, whatever the address. */
  beside?: Partial<Record<EndpointKind, string>>;
  /** Kinds that take more than one call, or an account, and have tests of their own. */
  apart?: string;
  /** Kinds whose request is written anew. */
  shaped?: string;
  /** Where the bare credential stands, if not as a bearer token. */
  header?: string;
  /** Of the form that is sent as it is, where another is exchanged first. */
  credential?: string;
}

export const compatibleProviders: readonly Expected[] = [
  { id: '302ai', address: 'https://api.302.ai/v1', offers: 'chatComplete' },
  { id: 'aibadgr', address: 'https://aibadgr.com/api/v1', offers: 'chatComplete' },
  { id: 'aihubmix', address: 'https://aihubmix.com/v1', offers: 'chatComplete' },
  { id: 'aiml', address: 'https://api.aimlapi.com/v1', offers: 'chatComplete' },
  { id: 'amazon-nova', address: 'https://api.nova.amazon.com/v1', offers: 'chatComplete' },
  { id: 'anyscale', address: 'https://api.endpoints.anyscale.com/v1', offers: 'chatComplete complete embed' },
  { id: 'assemblyai', address: 'https://llm-gateway.assemblyai.com/v1', offers: 'chatComplete' },
  { id: 'baseten', address: 'https://inference.baseten.co/v1', offers: 'chatComplete' },
  {
    id: 'byteplus',
    address: 'https://ark.ap-southeast.bytepluses.com/api/v3',
    offers: 'chatComplete imageGenerate createModelResponse',
    paths: { embed: '/embeddings/multimodal' },
    shaped: 'embed',
  },
  { id: 'cerebras', address: 'https://api.cerebras.ai/v1', offers: 'chatComplete complete listModels' },
  { id: 'chutes', address: 'https://llm.chutes.ai/v1', offers: 'chatComplete' },
  { id: 'clarifai', address: 'https://api.clarifai.com/v2/ext/openai/v1', offers: 'chatComplete' },
  { id: 'cometapi', address: 'https://api.cometapi.com/v1', offers: 'chatComplete embed' },
  { id: 'compactifai', address: 'https://api.compactif.ai/v1', offers: 'chatComplete' },
  {
    id: 'cortex',
    address: 'https://snowflake-account.snowflakecomputing.com/api/v2',
    offers: '',
    paths: {
      chatComplete: '/cortex/v1/chat/completions',
      messages: '/cortex/v1/messages',
      embed: '/cortex/inference:embed',
    },
    shaped: 'embed',
  },
  { id: 'crusoe', address: 'https://managed-inference-api-proxy.crusoecloud.com/v1', offers: 'chatComplete' },
  {
    id: 'dashscope',
    address: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    offers: 'chatComplete embed',
    beside: { rerank: '/compatible-api/v1/reranks' },
  },
  {
    id: 'databricks',
    address: 'https://databricks-workspace.cloud.databricks.com',
    offers: '',
    paths: {
      chatComplete: '/ai-gateway/mlflow/v1/chat/completions',
      messages: '/ai-gateway/anthropic/v1/messages',
      embed: '/serving-endpoints/embeddings',
    },
  },
  { id: 'deepbricks', address: 'https://api.deepbricks.ai/v1', offers: 'chatComplete imageGenerate' },
  {
    id: 'deepinfra',
    address: 'https://api.deepinfra.com/v1/openai',
    offers: 'chatComplete complete embed imageGenerate listModels',
    beside: { rerank: '/v1/inference/{model}' },
    shaped: 'rerank',
  },
  {
    id: 'deepseek',
    address: 'https://api.deepseek.com',
    offers: 'listModels',
    paths: {
      chatComplete: '/v1/chat/completions',
      complete: '/beta/completions',
      messages: '/anthropic/v1/messages',
      messagesCountTokens: '/anthropic/v1/messages/count_tokens',
    },
  },
  { id: 'ember-cloud', address: null, offers: 'chatComplete' },
  { id: 'empower', address: 'https://app.empower.dev/api/v1', offers: 'chatComplete' },
  { id: 'featherless-ai', address: 'https://api.featherless.ai/v1', offers: 'chatComplete complete' },
  {
    id: 'fireworks-ai',
    address: 'https://api.fireworks.ai/inference/v1',
    offers: 'chatComplete complete embed rerank createModelResponse messages listModels',
    paths: { imageGenerate: '/image_generation/{model}' },
    beside: { createTranscription: '/v1/audio/transcriptions' },
    apart: 'uploadFile listFiles retrieveFile deleteFile createFinetune listFinetunes retrieveFinetune cancelFinetune',
    shaped: 'imageGenerate rerank',
  },
  { id: 'friendliai', address: 'https://api.friendli.ai/serverless/v1', offers: 'chatComplete' },
  { id: 'galadriel', address: 'https://api.galadriel.com/v1', offers: 'chatComplete' },
  { id: 'gigachat', address: 'https://gigachat.devices.sberbank.ru/api/v1', offers: 'chatComplete embed' },
  { id: 'github', address: 'https://models.inference.ai.azure.com', offers: 'chatComplete complete embed' },
  {
    id: 'github-copilot',
    address: 'https://api.githubcopilot.com',
    offers: 'chatComplete embed',
    credential: 'tid=provider-secret',
  },
  { id: 'gmi', address: 'https://api.gmi-serving.com/v1', offers: 'chatComplete' },
  { id: 'gradient-ai', address: 'https://inference.do-ai.run/v1', offers: 'chatComplete' },
  {
    id: 'groq',
    address: 'https://api.groq.com/openai/v1',
    offers: 'chatComplete createTranscription createTranslation createSpeech listModels createModelResponse',
  },
  { id: 'helicone', address: 'https://ai-gateway.helicone.ai', offers: 'chatComplete' },
  {
    id: 'huggingface',
    address: 'https://router.huggingface.co/v1',
    offers: 'chatComplete complete listModels',
    beside: { embed: '/hf-inference/pipeline/feature-extraction/{model}', rerank: '/rerank' },
    shaped: 'embed rerank',
  },
  {
    id: 'hyperbolic',
    address: 'https://api.hyperbolic.xyz/v1',
    offers: 'chatComplete',
    paths: { imageGenerate: '/image/generation' },
    shaped: 'imageGenerate',
  },
  { id: 'inception', address: 'https://api.inceptionlabs.ai/v1', offers: 'chatComplete' },
  { id: 'inference-net', address: 'https://api.inference.net/v1', offers: 'chatComplete' },
  { id: 'iointelligence', address: 'https://api.intelligence.io.solutions/api/v1', offers: 'chatComplete embed' },
  { id: 'kluster-ai', address: 'https://api.kluster.ai/v1', offers: 'chatComplete embed uploadFile' },
  { id: 'krutrim', address: 'https://cloud.olakrutrim.com/v1', offers: 'chatComplete' },
  { id: 'lambda', address: 'https://api.lambdalabs.com/v1', offers: 'chatComplete complete' },
  {
    id: 'lemonfox-ai',
    address: 'https://api.lemonfox.ai/v1',
    offers: 'chatComplete imageGenerate createTranscription',
  },
  { id: 'lepton', address: 'https://api.lepton.ai/api/v1', offers: 'chatComplete complete createTranscription' },
  { id: 'lightning-ai', address: null, offers: 'chatComplete' },
  { id: 'lingyi', address: 'https://api.lingyiwanwu.com/v1', offers: 'chatComplete' },
  { id: 'lm-studio', address: null, offers: 'chatComplete complete embed listModels' },
  {
    id: 'local-ai',
    address: null,
    offers: 'chatComplete complete embed imageGenerate createSpeech createTranscription',
  },
  { id: 'matterai', address: 'https://api.matterai.so/v1', offers: 'chatComplete' },
  { id: 'meta-llama', address: 'https://api.llama.com/compat/v1', offers: 'chatComplete' },
  {
    id: 'minimax',
    address: 'https://api.minimax.io/v1',
    offers: 'chatComplete',
    beside: { messages: '/anthropic/v1/messages' },
    paths: { createSpeech: '/t2a_v2' },
    shaped: 'createSpeech',
  },
  {
    id: 'mistral-ai',
    address: 'https://api.mistral.ai/v1',
    offers: 'chatComplete embed ocr moderate createSpeech createTranscription listModels',
    paths: { complete: '/fim/completions' },
    shaped: 'complete createSpeech',
  },
  { id: 'modal', address: 'https://api.modal.com/v1', offers: 'chatComplete complete embed' },
  { id: 'modelscope', address: 'https://api-inference.modelscope.cn/v1', offers: 'chatComplete' },
  { id: 'monsterapi', address: 'https://llm.monsterapi.ai/v1', offers: 'chatComplete' },
  { id: 'moonshot', address: 'https://api.moonshot.cn/v1', offers: 'chatComplete' },
  { id: 'morph', address: 'https://api.morphllm.com/v1', offers: 'chatComplete' },
  { id: 'nano-gpt', address: 'https://nano-gpt.com/api/v1', offers: 'chatComplete' },
  { id: 'ncompass', address: 'https://api.ncompass.tech/v1', offers: 'chatComplete' },
  {
    id: 'nebius',
    address: 'https://api.studio.nebius.ai/v1',
    offers: 'chatComplete complete embed imageGenerate listModels',
  },
  { id: 'nextbit', address: 'https://api.nextbit256.com/v1', offers: 'chatComplete complete' },
  { id: 'novita-ai', address: 'https://api.novita.ai/v3/openai', offers: 'chatComplete complete' },
  { id: 'nscale', address: 'https://inference.api.nscale.com/v1', offers: 'chatComplete imageGenerate' },
  {
    id: 'nvidia-nim',
    address: 'https://integrate.api.nvidia.com/v1',
    offers: 'chatComplete embed listModels',
    beside: { rerank: '/v1/retrieval/{model}/reranking' },
    shaped: 'rerank',
  },
  { id: 'ollama', address: null, offers: 'chatComplete complete embed listModels' },
  { id: 'opencode', address: 'https://opencode.ai/zen/v1', offers: 'chatComplete listModels' },
  {
    id: 'openrouter',
    address: 'https://openrouter.ai/api/v1',
    offers: 'chatComplete complete embed createModelResponse createSpeech createTranscription listModels',
  },
  { id: 'ovhcloud', address: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', offers: 'chatComplete' },
  { id: 'parasail', address: 'https://api.parasail.io/v1', offers: 'chatComplete' },
  {
    id: 'perplexity-ai',
    address: 'https://api.perplexity.ai',
    offers: 'chatComplete',
    paths: { createModelResponse: '/v1/responses', embed: '/v1/embeddings', listModels: '/v1/models' },
    shaped: 'embed',
  },
  { id: 'poe', address: 'https://api.poe.com/v1', offers: 'chatComplete' },
  {
    id: 'predibase',
    address: 'https://serving.app.predibase.com',
    offers: '',
    paths: { chatComplete: '/predibase-tenant/deployments/v2/llms/{model}/v1/chat/completions' },
    shaped: 'chatComplete',
  },
  { id: 'publicai', address: 'https://api.publicai.co/v1', offers: 'chatComplete' },
  { id: 'recraft-ai', address: 'https://external.api.recraft.ai/v1', offers: 'imageGenerate' },
  { id: 'sambanova', address: 'https://api.sambanova.ai/v1', offers: 'chatComplete embed' },
  {
    id: 'sarvam',
    address: 'https://api.sarvam.ai/v1',
    offers: 'chatComplete listModels',
    beside: { createSpeech: '/text-to-speech', createTranscription: '/speech-to-text' },
    shaped: 'createSpeech createTranscription',
    header: 'api-subscription-key',
  },
  { id: 'scaleway', address: 'https://api.scaleway.ai/v1', offers: 'chatComplete' },
  { id: 'sgl', address: null, offers: 'chatComplete complete embed messages messagesCountTokens listModels' },
  {
    id: 'siliconflow',
    address: 'https://api.siliconflow.cn/v1',
    offers: 'chatComplete embed rerank imageGenerate',
    shaped: 'imageGenerate',
  },
  { id: 'synthetic', address: 'https://api.synthetic.new/openai/v1', offers: 'chatComplete' },
  { id: 'tencent', address: 'https://tokenhub-intl.tencentcloudmaas.com/v1', offers: 'chatComplete' },
  {
    id: 'together-ai',
    address: 'https://api.together.xyz/v1',
    offers: 'chatComplete complete embed rerank imageGenerate createSpeech createTranscription listModels',
  },
  { id: 'upstage', address: 'https://api.upstage.ai/v1/solar', offers: 'chatComplete embed' },
  { id: 'v0', address: 'https://api.v0.dev/v1', offers: 'chatComplete' },
  { id: 'venice', address: 'https://api.venice.ai/api/v1', offers: 'chatComplete' },
  { id: 'vercel-ai-gateway', address: 'https://ai-gateway.vercel.sh/v1', offers: 'chatComplete embed' },
  {
    id: 'vllm',
    address: null,
    offers:
      'chatComplete complete embed rerank createTranscription listModels createModelResponse messages messagesCountTokens',
  },
  {
    id: 'volcengine',
    address: 'https://ark.cn-beijing.volces.com/api/v3',
    offers: 'chatComplete embed createModelResponse',
  },
  { id: 'wafer', address: 'https://pass.wafer.ai/v1', offers: 'chatComplete' },
  { id: 'wandb', address: 'https://api.inference.wandb.ai/v1', offers: 'chatComplete' },
  {
    id: 'x-ai',
    address: 'https://api.x.ai/v1',
    offers:
      'chatComplete complete embed imageGenerate listModels createModelResponse getModelResponse deleteModelResponse realtime',
    paths: { createSpeech: '/tts' },
    shaped: 'createSpeech',
  },
  { id: 'xiaomi-mimo', address: 'https://api.xiaomimimo.com/v1', offers: 'chatComplete' },
  { id: 'z-ai', address: 'https://api.z.ai/api/paas/v4', offers: 'chatComplete' },
  { id: 'zhipu', address: 'https://open.bigmodel.cn/api/paas/v4', offers: 'chatComplete embed imageGenerate' },
];
