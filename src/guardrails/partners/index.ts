/** The checks of partners. */
import type { Check } from '../check.ts';
import { acuvityScan } from './acuvity.ts';
import { aktoGuard } from './akto.ts';
import { alibabaGuard } from './alibaba.ts';
import { aporiaValidate } from './aporia.ts';
import { azureContentSafety, azurePii, azureProtectedMaterial, azureShieldPrompt } from './azure.ts';
import { bedrockGuard } from './bedrock.ts';
import { catoAnalyze } from './cato.ts';
import { crowdstrikeGuard } from './crowdstrike.ts';
import { exaOnline } from './exa.ts';
import { f5Scan } from './f5.ts';
import { javelinGuardrails } from './javelin.ts';
import { lakeraGuard } from './lakera.ts';
import { lassoClassify, lassoScan } from './lasso.ts';
import { mistralModerate } from './mistral.ts';
import { pangeaPii, pangeaTextGuard } from './pangea.ts';
import { panwIntercept } from './panw.ts';
import { patronusChecks } from './patronus.ts';
import { pillarScanPrompt, pillarScanResponse } from './pillar.ts';
import { promptSecurityPrompt, promptSecurityResponse } from './prompt-security.ts';
import { promptfooGuard, promptfooHarm, promptfooPii } from './promptfoo.ts';
import { qualifireChecks } from './qualifire.ts';
import { singulrGuard } from './singulr.ts';
import { sydeGuard } from './sydelabs.ts';
import { tavilyOnline } from './tavily.ts';
import { walledProtect } from './walledai.ts';
import { zscalerGuard } from './zscaler.ts';

export const partnerChecks: readonly Check[] = [
  acuvityScan,
  aktoGuard,
  alibabaGuard,
  aporiaValidate,
  azureContentSafety,
  azurePii,
  azureShieldPrompt,
  azureProtectedMaterial,
  bedrockGuard,
  catoAnalyze,
  crowdstrikeGuard,
  exaOnline,
  f5Scan,
  javelinGuardrails,
  lakeraGuard,
  lassoClassify,
  lassoScan,
  mistralModerate,
  pangeaTextGuard,
  pangeaPii,
  panwIntercept,
  ...patronusChecks,
  pillarScanPrompt,
  pillarScanResponse,
  promptfooGuard,
  promptfooPii,
  promptfooHarm,
  promptSecurityPrompt,
  promptSecurityResponse,
  ...qualifireChecks,
  singulrGuard,
  sydeGuard,
  tavilyOnline,
  walledProtect,
  zscalerGuard,
];
