/** How AI Studio names a model among its resources: tuned models with their collection, others in the common one. */
export const modelName = (model: string): string =>
  model.startsWith('tunedModels/') ? model : `models/${model.replace(/^models\//, '')}`;
