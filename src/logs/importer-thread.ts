/** The importer in a thread of its own, so that storing never holds up a request. */
import { type ImportOrders, type ImportReport, LogImporter } from './importer.ts';

export type Order = { order: 'start'; orders: ImportOrders } | { order: 'run' } | { order: 'stop' };

declare const self: Worker;

let importer: LogImporter | null = null;

self.onmessage = ({ data }: MessageEvent<Order>) => {
  if (data.order === 'start')
    importer = new LogImporter(data.orders, (report: ImportReport) => self.postMessage(report));
  if (data.order === 'stop') void importer?.stop();
  else importer?.run();
};
