/** Prometheus' own checker of metrics, where it is installed. */
import { spawnSync } from 'node:child_process';

/** False where it is missing; tests that need it are then skipped by name. `.ci/run` installs it. */
export const promtoolInstalled = spawnSync('promtool', ['--version']).status === 0;

/** What it complains of, one finding a line. A text that is no exposition throws. */
export function promtoolFindings(exposition: string): string[] {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: exposition,
    encoding: 'utf8',
  });
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '');
  // 3 says that there are findings.
  if (status !== 0 && status !== 3) throw new Error(`promtool cannot read the metrics: ${lines.join('\n')}`);
  return lines;
}
