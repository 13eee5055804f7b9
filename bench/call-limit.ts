/** Lifts the runtime's own limit of calls for whoever makes the load: unless told otherwise at its start, it lets 256 out at once and holds the rest back. */
const variable = 'BUN_CONFIG_MAX_HTTP_REQUESTS';
/** The most that the runtime takes. */
const most = '65535';

/** Starts the program again, in its own place, where it was started without a limit. What this process has opened is gone then. */
export function liftCallLimit(): void {
  if (process.env[variable] !== undefined || process.execve === undefined) return;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    ...process.env,
    [variable]: most,
  });
}
