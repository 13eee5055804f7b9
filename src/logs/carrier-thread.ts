/** The carrier in a thread of its own, so that storing never holds up a request. */
import { Carrier, type CarrierOrders, type CarrierReport } from './carrier.ts';

export type Order = { order: 'start'; orders: CarrierOrders } | { order: 'carry' } | { order: 'stop' };

declare const self: Worker;

let carrier: Carrier | null = null;

self.onmessage = ({ data }: MessageEvent<Order>) => {
  if (data.order === 'start') carrier = new Carrier(data.orders, (report: CarrierReport) => self.postMessage(report));
  if (data.order === 'stop') void carrier?.stop();
  else carrier?.carry();
};
