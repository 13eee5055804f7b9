/** The open-source gateway from the npm registry, installed into a temporary folder for one comparison. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/servers/free-port.ts';
import type { Aim } from './child.ts';

const peerPackage = '@portkey-ai/gateway';

export async function startPeer(upstreamPort: number): Promise<Aim> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-peer-'));
  console.log(`Installing ${peerPackage} into a temporary folder ...`);
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', peerPackage];
  const installed = spawnSync('npm', install, { encoding: 'utf8' });
  if (installed.status !== 0) throw new Error(`npm install ${peerPackage} failed: ${installed.stderr}`);
  const port = await freePort();
  const program = join(folder, 'node_modules', peerPackage, 'build', 'start-server.js');
  const child = spawn('node', [program, '--headless', `--port=${port}`], {
    env: { PATH: process.env.PATH ?? '', HOME: folder, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await untilAnswers(port);
  return {
    child: {
      pid: child.pid ?? 0,
      port,
      greeting: '',
      async stop() {
        child.kill('SIGTERM');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      },
    },
    headers: {
      'x-portkey-provider': 'openai',
      authorization: 'Bearer sk-bench',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    },
  };
}

async function untilAnswers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await Bun.sleep(50);
  }
  throw new Error('The peer did not start within 10 seconds');
}
