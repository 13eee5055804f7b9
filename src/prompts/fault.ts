/** What can be wrong with a template: where it is, and whether something that it names is missing. */

/** Counted from 1, as editors do. */
export interface Place {
  line: number;
  column: number;
}

/** `missing`: a partial or a version that is not there. Everything else is the template's or the variables' own fault. */
export type TemplateFaultKind = 'invalid' | 'missing';

export class TemplateFault extends Error {
  readonly kind: TemplateFaultKind;
  readonly reason: string;
  readonly place: Place | null;
  /** Which text it is in: `[1].content` of the messages, or a partial; empty for the text of the prompt itself. */
  readonly within: string;

  constructor(reason: string, place: Place | null, within = '', kind: TemplateFaultKind = 'invalid') {
    super(messageOf(reason, place, within));
    this.kind = kind;
    this.reason = reason;
    this.place = place;
    this.within = within;
  }

  /** The same fault, told from the text that holds the faulty one. */
  inside(outer: string): TemplateFault {
    const within = this.within === '' ? outer : `${outer}, ${this.within}`;
    return new TemplateFault(this.reason, this.place, within, this.kind);
  }
}

function messageOf(reason: string, place: Place | null, within: string): string {
  const where = [within, place && `line ${place.line}, column ${place.column}`].filter(Boolean).join(', ');
  return where === '' ? reason : `${where}: ${reason}`;
}
