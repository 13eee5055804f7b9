/** What can go wrong on the way to a server and back, with a code that tells which. */
import { UntracedError } from '../untraced-error.ts';

type WireFaultCode =
  | 'ConnectionClosed'
  | 'InvalidAddress'
  | 'InvalidAnswer'
  | 'InvalidBody'
  | 'InvalidHeader'
  | 'HeadTooLarge'
  | 'BodyTooLarge'
  | 'WrongBodyLength'
  | 'CertificateRefused'
  | 'TooManyOpenFiles'
  | 'ShareUsedUp';

export class WireFault extends UntracedError {
  readonly code: WireFaultCode;

  constructor(code: WireFaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const closedByServer = (): WireFault => new WireFault('ConnectionClosed', 'the server closed the connection');

export const closedByClient = (): WireFault => new WireFault('ConnectionClosed', 'the client closed the connection');

export const tooLate = (): WireFault => new WireFault('ConnectionClosed', 'the request has been answered');
