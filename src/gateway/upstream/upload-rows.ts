/** Rows of a batch on their way to a provider that reads them itself: they name only models that the caller may use, or the upload breaks off before its end. */
import { LineChunks, LineFault } from '../../batches/line-chunks.ts';
import { isObject, parsed, textOf } from '../../providers/json.ts';
import { permittedModel, plainModel, restrictsModels, type Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import { GatewayError } from '../errors.ts';
import type { ClientBody } from '../request/body.ts';
import { type FormWatch, FormWriter } from '../request/canonical-form.ts';
import { boundaryOf, isFilePart, type PartHead } from '../request/form-head.ts';
import { hasRepeatedFields } from '../request/json-fields.ts';
import { hidden, ModelWatch } from './passthrough-model-guard.ts';
import { withPlainModels } from './row-models.ts';
import { endsIn } from './upstream-address.ts';

type StreamBody = Extract<ClientBody, { form: 'stream' }>;

interface Watched {
  stream: ReadableStream<Uint8Array>;
  /** Set where the form is written anew. */
  contentType?: string;
}

/** The very same stream where nothing must be looked at; else the form as it was read. */
export function watchedRows(
  context: RequestContext,
  target: Target,
  { stream: sent, contentType }: StreamBody,
  url: string,
): Watched {
  if (contentType === null || !isForm.test(contentType)) return { stream: sent };
  const stream = target.saved && isUpload(context, url) ? inPlainNames(context, target, sent) : sent;
  const mark = boundaryOf(contentType);
  if (!target.saved || !restrictsModels(target.saved)) return { stream };
  if (mark === null) throw hidden(target.saved);
  const rows = isUpload(context, url)
    ? new RowWatch((model, where) => permittedModel(context, target, model, where))
    : new ModelWatch(target.saved);
  const form = new FormWriter(mark, rows);
  const reader = stream.getReader();
  /** Without its last piece no form is complete: it leaves when all of it has been looked at. */
  let held: Uint8Array | null = null;
  const judged = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) {
          form.requireEnd();
          if (held) controller.enqueue(held);
          return controller.close();
        }
        const written = form.push(value);
        if (written.length === 0) continue;
        const ready: Uint8Array | null = held;
        held = written;
        if (ready) return controller.enqueue(ready);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { stream: judged, contentType: form.contentType };
}

/** Rows may name the provider that reads them, as any call may. */
const inPlainNames = (
  context: RequestContext,
  target: Target,
  stream: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> => withPlainModels(stream, (named, where) => plainModel(context, target, named, where));

const isForm = /^multipart\/form-data\b/i;

/** Also where it only passes through. */
const isUpload = ({ matched: { route }, request }: RequestContext, url: string): boolean =>
  route.kind === 'uploadFile' || (route.kind === 'proxy' && request.method === 'POST' && endsIn(url, '/files'));

/** Sees the form go by. What it is for may be said behind its rows, so that a fault counts at the end. */
class RowWatch implements FormWatch {
  readonly #requireModel: (model: string, where: string) => void;
  #lines: LineChunks | null = null;
  #lineNumber = 0;
  #purpose: Buffer[] | null = null;
  #isBatch = false;
  #fault: GatewayError | null = null;

  constructor(requireModel: (model: string, where: string) => void) {
    this.#requireModel = requireModel;
  }

  bytes(bytes: Uint8Array): void {
    this.#purpose?.push(Buffer.from(bytes));
    this.#look((lines) => lines.push(bytes));
  }

  part(head: PartHead): void {
    this.end();
    if (head.name === 'purpose') this.#purpose = [];
    else if (isFilePart(head) || head.name === 'file') {
      this.#lines = new LineChunks();
      this.#lineNumber = 0;
    }
  }

  end(): void {
    this.#look((lines) => lines.rest());
    this.#lines = null;
    if (this.#purpose && Buffer.concat(this.#purpose).toString().trim().toLowerCase() === 'batch') this.#isBatch = true;
    this.#purpose = null;
    if (this.#isBatch && this.#fault) throw this.#fault;
  }

  /** A file that is not for a batch may hold anything. */
  #look(lines: (chunks: LineChunks) => string[]): void {
    if (!this.#lines || this.#fault) return;
    try {
      for (const line of lines(this.#lines)) this.#requireRow(line, ++this.#lineNumber);
    } catch (fault) {
      this.#fault = asRefusal(fault);
      if (this.#isBatch) throw this.#fault;
    }
  }

  #requireRow(line: string, number: number): void {
    const row = parsed(line);
    const body = isObject(row) ? row.body : null;
    if (!isObject(row) || !isObject(body)) throw refused(`line ${number} is not a row of a batch`);
    // Parsers differ in which of two they believe.
    if (hasRepeatedFields(line, row)) throw refused(`line ${number} has a field twice`);
    const id = textOf(row.custom_id);
    this.#requireModel(textOf(body.model) ?? '', id === null ? `line ${number}` : `the row "${id}"`);
  }
}

const refused = (message: string): GatewayError => new GatewayError('invalid_body', message, { field: 'file' });

function asRefusal(fault: unknown): GatewayError {
  if (fault instanceof GatewayError) return fault;
  if (fault instanceof LineFault) return refused(`the file is no file of rows: ${fault.message}`);
  throw fault;
}
