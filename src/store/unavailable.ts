/** Tells a store that cannot serve at the moment from a fault of ours. */

/** Of PostgreSQL: the connection (08), resources (53), shut-down and start (57P), races lost too often (40). */
const codes =
  /^(08...|53...|57P..|40001|40P01|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN)\w*)$/;

/** What the driver says without a code. */
const words =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.test(String(error.code))) || words.test(error.message) || isSilence(error);
}

/** The driver's words for an answer that did not come in time. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';
