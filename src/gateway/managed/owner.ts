/** Whose the files and batches are that a request asks for. */
import type { Owner } from '../../batches/files.ts';
import type { Journey } from '../journey.ts';

export const ownerOf = ({ caller, workspace }: Journey): Owner => ({
  organisationId: caller.organisationId,
  workspaceId: workspace.workspaceId,
});
