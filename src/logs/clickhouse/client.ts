/** The connection to ClickHouse. */
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

export const connect = (url: string, timeoutMs: number): ClickHouseClient =>
  createClient({
    url,
    application: 'gw',
    // Whoever asked hears of every fault; the client would write it to the console besides.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: timeoutMs,
    compression: { request: false, response: false },
    clickhouse_settings: {
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
      output_format_json_quote_decimals: 0,
    },
  });
