/** The link of an invite: shown once, to be handed over. */
import { LinkDialog } from '../../ui/dialogs.tsx';

export const InviteLinkDialog = ({ email, link, onClose }: { email: string; link: string; onClose(): void }) => (
  <LinkDialog
    title="The invite is ready"
    text={`Give this link to ${email}. Whoever has it can join under that address, so send it on a way you trust. It is shown only now.`}
    label="Invite link"
    link={link}
    onClose={onClose}
  />
);
