/** Prompts on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { flag, id, reference, timestamp } from '../kernel/fields.ts';
import { listOf } from '../kernel/lists/paging.ts';

/** Leaves room for the other fields in a body of 1 MiB, so that a text that is too long is refused by name. */
const longestText = 1_000_000;

export const itemName = lazy(() => z.string().trim().min(1).max(255));
/** A slug that a client chooses: of the form of those that are made, so that it is never taken for a word of a path. */
export const chosenSlug = lazy(() =>
  z
    .string()
    .max(100)
    .regex(/^pp-[a-z0-9][a-z0-9_-]*$/, 'must begin with pp- and hold small letters, digits, - and _')
    .meta({ examples: ['pp-greeting-1a2b3c'] })
    .describe('A slug of your choice, free in the whole organisation; without it one is made from the name'),
);
export const templateText = lazy(() => z.string().min(1).max(longestText));
export const versionDescription = lazy(() => z.string().max(2_000));
const json = lazy(() => z.record(z.string().max(255), z.unknown()));
const jsonList = lazy(() => z.array(json()).max(512));

const content = lazy(() => ({
  string: templateText().describe('The template: a JSON array of messages as text, or plain text'),
  parameters: json().describe('Model parameters, such as max_tokens'),
  virtual_key: reference.describe('The slug of a provider of the workspace, with or without @'),
  model: z.string().trim().min(1).max(255),
  functions: jsonList(),
  tools: jsonList(),
  tool_choice: z.union([z.string().max(255), json()]),
  version_description: versionDescription(),
  template_metadata: json().describe('Kept as it is; `template_type` `text` makes a text completion of plain text'),
  is_raw_template: flag.describe('The whole text is rendered first and then read as JSON'),
}));

export const newPrompt = lazy(() => {
  const { string, parameters, virtual_key, ...others } = content();
  return z.object({
    name: itemName(),
    slug: chosenSlug().optional(),
    collection_id: reference.describe('The id or slug of a collection'),
    string,
    parameters,
    virtual_key,
    ...z.object(others).partial().shape,
    workspace_id: reference.optional().describe('Without it: the workspace of the collection, or the key’s own'),
  });
});

const update = lazy(() => ({
  name: itemName().optional(),
  collection_id: reference.optional(),
  ...z.object(content()).partial().shape,
  prompt_metadata: json().optional().describe('Another name of template_metadata'),
}));

export const promptUpdate = lazy(() =>
  z.object({
    ...update(),
    patch: flag.optional().describe('Fields that are not sent are taken from the latest version'),
    workspace_id: reference.optional(),
  }),
);
export type PromptUpdate = z.output<ReturnType<typeof promptUpdate>>;
export type NewPrompt = z.output<ReturnType<typeof newPrompt>>;

export const promptPath = lazy(() => z.object({ prompt: reference.describe('The id or the slug of the prompt') }));
export const promptVersionPath = () =>
  z.object({ prompt: reference, versionId: reference.describe('The id or the number of the version') });

const workspaceId = () => reference.optional();
export const updateQuery = () => z.object({ workspace_id: workspaceId(), patch: flag.optional() });
export const readQuery = lazy(() =>
  z.object({
    workspace_id: workspaceId(),
    version: z
      .string()
      .max(100)
      .optional()
      .describe('`default` (the published version), `latest`, a number, or a label of the prompt'),
    show_prompt_share: flag.optional(),
  }),
);
export const itemFilters = lazy(() =>
  z.object({
    workspace_id: workspaceId(),
    collection_id: reference.optional(),
    search: z.string().max(255).optional().describe('A part of the name, in any case'),
    type: z.enum(['shared', 'own']).optional().describe('`shared`: what other workspaces share with this one'),
    show_prompt_share: flag.optional().describe('Adds with whom each is shared'),
  }),
);

export const publication = lazy(() =>
  z.object({
    version: z
      .union([z.number(), z.string().max(9).regex(/^\d+$/, 'must be the number of a version')])
      .transform(Number)
      .pipe(z.int().min(1).max(1_000_000_000))
      .describe('The number of the version'),
    workspace_id: workspaceId(),
  }),
);
export const versionLabel = () =>
  z.object({
    label_id: id.nullable().describe('Stands on this version from now on; null takes all labels off it'),
    workspace_id: workspaceId(),
  });

export const shareInfo = lazy(() =>
  z
    .object({
      type: z.enum(['organisation', 'workspaces']),
      workspaces: z.array(z.string()),
    })
    .nullable()
    .optional()
    .describe('With whom it is shared; null: with nobody'),
);

export const listedFields = lazy(() => ({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.string(),
  workspace_id: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: timestamp,
  last_updated_at: timestamp,
  read_only: z.literal(true).optional().describe('Present where another workspace shares it'),
  owner_workspace_id: z.string().optional(),
  share: shareInfo(),
}));

export const promptList = () =>
  listOf(
    z
      .object({ ...listedFields(), model: z.string().nullable(), object: z.literal('prompt') })
      .meta({ id: 'ListedPrompt' }),
  );

const labels = lazy(() => z.array(z.object({ id: z.string(), name: z.string() })));
const numericFlag = () => z.union([z.literal(0), z.literal(1)]);

const variable = () =>
  z.object({
    name: z.string(),
    type: z.enum(['text', 'switch', 'list', 'object', 'template']),
    required: z.boolean(),
    uses: z.array(
      z.object({
        within: z.string().describe('Where in the messages: `[1].content`; empty for the text itself'),
        line: z.number(),
        column: z.number(),
        as: z.enum(['value', 'section', 'inverted', 'template']),
        sections: z.array(z.string()).describe('The sections around it, outermost first'),
      }),
    ),
  });

const template = lazy(() => ({
  string: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  model: z.string().nullable(),
  virtual_key: z.string(),
  functions: z.array(z.unknown()).nullable(),
  tools: z.array(z.unknown()).nullable(),
  tool_choice: z.unknown(),
  template_metadata: z.record(z.string(), z.unknown()),
  is_raw_template: numericFlag(),
}));

export const promptRecord = lazy(() =>
  z
    .object({
      ...listedFields(),
      ...template(),
      prompt_version: z.number(),
      prompt_version_id: z.string(),
      prompt_version_status: z.enum(['active', 'archived']).describe('`active`: this is the published version'),
      prompt_version_description: z.string(),
      prompt_version_label_id: z.string().nullable(),
      labels: labels(),
      variables: z.array(variable()).describe('What the template asks for: enough to make a form'),
      object: z.literal('prompt'),
    })
    .meta({ id: 'Prompt' }),
);

export const promptVersions = () =>
  listOf(
    z
      .object({
        id: z.string(),
        prompt_id: z.string(),
        prompt_template: z.object(template()),
        prompt_version: z.number(),
        prompt_description: z.string(),
        label_id: z.string().nullable(),
        labels: labels(),
        status: z.enum(['active', 'archived']),
        created_at: timestamp,
        object: z.literal('prompt'),
      })
      .meta({ id: 'PromptVersion' }),
  );

export const createdPrompt = lazy(() =>
  z.object({ id: z.string(), slug: z.string(), version_id: z.string(), object: z.literal('prompt') }),
);
export const updatedPrompt = () =>
  z.object({ id: z.string(), slug: z.string(), prompt_version_id: z.string().optional(), object: z.literal('prompt') });
