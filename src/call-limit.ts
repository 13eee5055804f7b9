/** Lifts the runtime's own limit of calls to providers: unless told otherwise at its start, it lets 256 out at once and holds the rest back. */
import { isExecutable } from './executable.ts';

const variable = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
/** The most that the runtime takes. */
const most = '65535';

/** Starts the program again, in its own place, where it was started without a limit. What this process has opened is gone then. */
export function liftCallLimit(): void {
  if (process.env[variable] !== undefined || process.execve === undefined) return;
  // One executable finds its program in itself; otherwise the runtime is told which file to run.
  const given = process.argv.slice(isExecutable ? 2 : 1);
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...given], {
    ...process.env,
    [variable]: most,
  });
}
