/** Whose the files and batches are that a request asks for. */
import type { Owner } from '../../batches/files.ts';
import type { RequestContext } from '../context.ts';

export const ownerOf = ({ caller, workspace }: RequestContext): Owner => ({
  organisationId: caller.organisationId,
  workspaceId: workspace.workspaceId,
});
