/** Models that have no chat: what is asked of them goes to the responses. */
const families =
  /^(?:o[13]-pro|o[34](?:-mini)?-deep-research|gpt-5(?:\.\d+)?-(?:pro|codex)|codex-mini|computer-use-preview)/;

export const hasOnlyResponses = (model: string): boolean => families.test(model);
