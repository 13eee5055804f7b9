/** Has the runtime give back gaps in its memory every ten seconds, not at every turn, and fetch none before it is needed: to and fro they take a twelfth of the time of a call. It listens to the environment alone, and only as a program begins: a server that was begun without begins again. */
import { isExecutable } from './executable.ts';
import wanted from './runtime-settings.json' with { type: 'json' };

const isSet = Object.keys(wanted).every((name) => process.env[name] !== undefined);

if (process.argv.includes('serve') && !isSet && process.execve) {
  const [, file = '', ...args] = process.argv;
  const program = isExecutable ? [] : [...process.execArgv, file];
  try {
    process.execve(process.execPath, [process.execPath, ...program, ...args], { ...wanted, ...process.env });
  } catch {
    // Where a program cannot take its own place, it runs all the same, and a little slower.
  }
}
