/** What can go wrong on the way to a server and back, with a code that tells which. */
type WireFaultCode =
  | 'ConnectionClosed'
  | 'InvalidAnswer'
  | 'InvalidHeader'
  | 'HeadTooLarge'
  | 'AnswerTooLarge'
  | 'BodyTooShort'
  | 'CertificateRefused';

export class WireFault extends Error {
  readonly code: string;

  constructor(code: WireFaultCode | (string & {}), message: string) {
    super(message);
    this.code = code;
  }
}
