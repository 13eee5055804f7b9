/** Every provider, by its id and by the other names that it goes by. */
import { anthropic } from './anthropic/anthropic.ts';
import { claudePlatformAws } from './anthropic/platform-aws.ts';
import { awsPolly } from './aws-polly.ts';
import { azureAi } from './azure/azure-ai.ts';
import { azureOpenAi } from './azure/azure-openai.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { bedrockMantle } from './bedrock/mantle.ts';
import { cohere } from './cohere/cohere.ts';
import { ai302 } from './compatible/302ai.ts';
import { aibadgr } from './compatible/aibadgr.ts';
import { aihubmix } from './compatible/aihubmix.ts';
import { aiml } from './compatible/aiml.ts';
import { amazonNova } from './compatible/amazon-nova.ts';
import { anyscale } from './compatible/anyscale.ts';
import { assemblyai } from './compatible/assemblyai.ts';
import { baseten } from './compatible/baseten.ts';
import { byteplus } from './compatible/byteplus.ts';
import { cerebras } from './compatible/cerebras.ts';
import { chutes } from './compatible/chutes.ts';
import { clarifai } from './compatible/clarifai.ts';
import { cometapi } from './compatible/cometapi.ts';
import { compactifai } from './compatible/compactifai.ts';
import { cortex } from './compatible/cortex.ts';
import { crusoe } from './compatible/crusoe.ts';
import { dashscope } from './compatible/dashscope.ts';
import { databricks } from './compatible/databricks.ts';
import { deepbricks } from './compatible/deepbricks.ts';
import { deepinfra } from './compatible/deepinfra.ts';
import { deepseek } from './compatible/deepseek.ts';
import { emberCloud } from './compatible/ember-cloud.ts';
import { empower } from './compatible/empower.ts';
import { featherlessAi } from './compatible/featherless-ai.ts';
import { fireworksAi } from './compatible/fireworks-ai.ts';
import { friendliai } from './compatible/friendliai.ts';
import { galadriel } from './compatible/galadriel.ts';
import { gigachat } from './compatible/gigachat.ts';
import { github } from './compatible/github.ts';
import { githubCopilot } from './compatible/github-copilot.ts';
import { gmi } from './compatible/gmi.ts';
import { gradientAi } from './compatible/gradient-ai.ts';
import { groq } from './compatible/groq.ts';
import { helicone } from './compatible/helicone.ts';
import { huggingface } from './compatible/huggingface.ts';
import { hyperbolic } from './compatible/hyperbolic.ts';
import { inception } from './compatible/inception.ts';
import { inferenceNet } from './compatible/inference-net.ts';
import { iointelligence } from './compatible/iointelligence.ts';
import { klusterAi } from './compatible/kluster-ai.ts';
import { krutrim } from './compatible/krutrim.ts';
import { lambda } from './compatible/lambda.ts';
import { lemonfoxAi } from './compatible/lemonfox-ai.ts';
import { lepton } from './compatible/lepton.ts';
import { lightningAi } from './compatible/lightning-ai.ts';
import { lingyi } from './compatible/lingyi.ts';
import { lmStudio } from './compatible/lm-studio.ts';
import { localAi } from './compatible/local-ai.ts';
import { matterai } from './compatible/matterai.ts';
import { metaLlama } from './compatible/meta-llama.ts';
import { minimax } from './compatible/minimax.ts';
import { mistralAi } from './compatible/mistral-ai.ts';
import { modal } from './compatible/modal.ts';
import { modelscope } from './compatible/modelscope.ts';
import { monsterapi } from './compatible/monsterapi.ts';
import { moonshot } from './compatible/moonshot.ts';
import { morph } from './compatible/morph.ts';
import { nanoGpt } from './compatible/nano-gpt.ts';
import { ncompass } from './compatible/ncompass.ts';
import { nebius } from './compatible/nebius.ts';
import { nextbit } from './compatible/nextbit.ts';
import { novitaAi } from './compatible/novita-ai.ts';
import { nscale } from './compatible/nscale.ts';
import { nvidiaNim } from './compatible/nvidia-nim.ts';
import { ollama } from './compatible/ollama.ts';
import { opencode } from './compatible/opencode.ts';
import { openrouter } from './compatible/openrouter.ts';
import { ovhcloud } from './compatible/ovhcloud.ts';
import { parasail } from './compatible/parasail.ts';
import { perplexityAi } from './compatible/perplexity-ai.ts';
import { poe } from './compatible/poe.ts';
import { predibase } from './compatible/predibase.ts';
import { publicai } from './compatible/publicai.ts';
import { recraftAi } from './compatible/recraft-ai.ts';
import { sambanova } from './compatible/sambanova.ts';
import { sarvam } from './compatible/sarvam.ts';
import { scaleway } from './compatible/scaleway.ts';
import { sgl } from './compatible/sgl.ts';
import { siliconflow } from './compatible/siliconflow.ts';
import { synthetic } from './compatible/synthetic.ts';
import { tencent } from './compatible/tencent.ts';
import { togetherAi } from './compatible/together-ai.ts';
import { upstage } from './compatible/upstage.ts';
import { v0 } from './compatible/v0.ts';
import { venice } from './compatible/venice.ts';
import { vercelAiGateway } from './compatible/vercel-ai-gateway.ts';
import { vllm } from './compatible/vllm.ts';
import { volcengine } from './compatible/volcengine.ts';
import { wafer } from './compatible/wafer.ts';
import { wandb } from './compatible/wandb.ts';
import { xAi } from './compatible/x-ai.ts';
import { xiaomiMimo } from './compatible/xiaomi-mimo.ts';
import { zAi } from './compatible/z-ai.ts';
import { zhipu } from './compatible/zhipu.ts';
import { google } from './google/google.ts';
import { palm } from './google/palm.ts';
import { openai } from './openai/openai.ts';
import { oracle } from './oracle/oracle.ts';
import { ai21 } from './own/ai21.ts';
import { blackForestLabs } from './own/black-forest-labs.ts';
import { bytez } from './own/bytez.ts';
import { deepgram } from './own/deepgram.ts';
import { elevenlabs } from './own/elevenlabs.ts';
import { falAi } from './own/fal-ai.ts';
import { jina } from './own/jina.ts';
import { meshy } from './own/meshy.ts';
import { milvus } from './own/milvus.ts';
import { nomic } from './own/nomic.ts';
import { pinecone } from './own/pinecone.ts';
import { qdrant } from './own/qdrant.ts';
import { rekaAi } from './own/reka-ai.ts';
import { runware } from './own/runware.ts';
import { runway } from './own/runway.ts';
import { scenarioAi } from './own/scenario-ai.ts';
import { segmind } from './own/segmind.ts';
import { soniox } from './own/soniox.ts';
import { stabilityAi } from './own/stability-ai.ts';
import { tripo3d } from './own/tripo3d.ts';
import { triton } from './own/triton.ts';
import { voyage } from './own/voyage.ts';
import type { Provider } from './provider.ts';
import { replicate } from './replicate/replicate.ts';
import { sagemaker } from './sagemaker.ts';
import { sandbox } from './sandbox/sandbox.ts';
import { vertex } from './vertex/vertex.ts';
import { watsonx } from './watsonx/watsonx.ts';
import { workersAi } from './workers-ai/workers-ai.ts';

export const allProviders: readonly Provider[] = [
  anthropic,
  claudePlatformAws,
  azureAi,
  azureOpenAi,
  cohere,
  awsPolly,
  bedrock,
  bedrockMantle,
  sagemaker,
  ai302,
  aibadgr,
  aihubmix,
  aiml,
  amazonNova,
  anyscale,
  assemblyai,
  baseten,
  byteplus,
  cerebras,
  chutes,
  clarifai,
  cometapi,
  compactifai,
  cortex,
  crusoe,
  dashscope,
  databricks,
  deepbricks,
  deepinfra,
  deepseek,
  emberCloud,
  empower,
  featherlessAi,
  fireworksAi,
  friendliai,
  galadriel,
  gigachat,
  githubCopilot,
  github,
  gmi,
  gradientAi,
  groq,
  helicone,
  huggingface,
  hyperbolic,
  inception,
  inferenceNet,
  iointelligence,
  klusterAi,
  krutrim,
  lambda,
  lemonfoxAi,
  lepton,
  lightningAi,
  lingyi,
  lmStudio,
  localAi,
  matterai,
  metaLlama,
  minimax,
  mistralAi,
  modal,
  modelscope,
  monsterapi,
  moonshot,
  morph,
  nanoGpt,
  ncompass,
  nebius,
  nextbit,
  novitaAi,
  nscale,
  nvidiaNim,
  ollama,
  opencode,
  openrouter,
  ovhcloud,
  parasail,
  perplexityAi,
  poe,
  predibase,
  publicai,
  recraftAi,
  sambanova,
  sarvam,
  scaleway,
  sgl,
  siliconflow,
  synthetic,
  tencent,
  togetherAi,
  upstage,
  v0,
  venice,
  vercelAiGateway,
  vllm,
  volcengine,
  wafer,
  wandb,
  xAi,
  xiaomiMimo,
  zAi,
  zhipu,
  google,
  palm,
  openai,
  sandbox,
  oracle,
  replicate,
  watsonx,
  workersAi,
  ai21,
  bytez,
  rekaAi,
  triton,
  voyage,
  jina,
  nomic,
  pinecone,
  stabilityAi,
  segmind,
  falAi,
  blackForestLabs,
  runware,
  runway,
  deepgram,
  elevenlabs,
  soniox,
  meshy,
  tripo3d,
  milvus,
  qdrant,
  scenarioAi,
  vertex,
];

export const providers: ReadonlyMap<string, Provider> = new Map(
  allProviders.flatMap((provider) => [provider.id, ...(provider.aliases ?? [])].map((name) => [name, provider])),
);
