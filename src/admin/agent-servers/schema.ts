/** Agent servers on the wire. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { reference } from '../kernel/fields.ts';
import {
  changeableServerFields,
  listOf,
  newServerFields,
  serverRecordFields,
  userAccessList,
  userAccessRecord,
} from '../provisioning/schema.ts';

export const newAgentServer = lazy(() =>
  z.object({
    ...newServerFields('{address}/v1/agent/{slug}'),
    agent_integration_id: reference.describe('Id or slug of an agent integration that the workspace may use'),
  }),
);

const updatable = lazy(() => z.object(changeableServerFields()).partial());
export const changeableFields = lazy(() => updatable().keyof().options);
export const agentServerUpdate = lazy(() => updatable().extend({ workspace_id: reference.nullish() }));

export const agentServerRecord = lazy(() =>
  z.object({
    ...serverRecordFields(),
    agent_integration_id: z.string(),
    agent_integration_slug: z.string(),
    protocol: z.enum(['a2a']),
    url: z.string().describe('Where clients connect; the card is found below it'),
  }),
);

export const listedAgentServers = lazy(() => listOf(agentServerRecord()));

export const agentServerPath = lazy(() => z.object({ agentServer: reference.describe('Id or slug') }));

export const agentUserAccessList = lazy(() => userAccessList(userAccessRecord()));
