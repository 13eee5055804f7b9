/** A gateway without a listener, three scripted providers behind it, and what a client reads of a stream through it. */
import { createGateway } from '../src/gateway/handle.ts';
import { readEvents } from '../src/gateway/streaming/sse.ts';
import { incomingOf, responseOf } from '../src/http/web.ts';
import { providers } from '../src/providers/index.ts';
import { newLab, saveConfig, savedProvider, workspaceKey } from './gateway-deps.ts';
import { refusal, type Scripted, scriptedProvider } from './providers/scripted.ts';
import type { StreamDialect } from './stream-dialects.ts';

const slugs = ['a', 'b', 'c'] as const;

/** A fallback that leaves no target alone after failures. */
export const never = { failure_threshold: 1_000_000, cooldown_interval: 30_000 };

export const encoder = new TextEncoder();

const question = { role: 'user', content: 'Hi' };

export const textIn = (dialect: StreamDialect, events: readonly { data: string }[]): string =>
  events.map(({ data }) => (data === '[DONE]' ? '' : dialect.textOf(JSON.parse(data)))).join('');

export const words = ['One', ' two', ' žluť', ' 🐎', ' five'];
export const text = words.join('');
export const complete = { status: 200, text, ended: true, failed: false, sound: true };

export function newStreamLab() {
  const lab = newLab();
  const scripts: Record<'a' | 'b' | 'c', Scripted> = {
    a: () => refusal(500),
    b: () => refusal(500),
    c: () => refusal(500),
  };
  /** Whether the providers continue the answer that another began. */
  const asked = { continuesPrefix: false };
  for (const slug of slugs) {
    lab.providers.set(slug, savedProvider(slug, { provider: `scripted-${slug}` }));
  }
  lab.deps.providers = new Map([
    ...providers,
    ...slugs.map((slug): [string, ReturnType<typeof scriptedProvider>] => {
      const provider = scriptedProvider(`scripted-${slug}`, {}, () => scripts[slug]);
      Object.defineProperty(provider, 'continuesPrefix', { get: () => asked.continuesPrefix });
      return [provider.id, provider];
    }),
  ]);
  const gateway = createGateway(lab.deps);
  const alone = saveConfig(lab, { provider: '@a' });
  const rescued = saveConfig(lab, {
    strategy: { mode: 'fallback', cb_config: never },
    targets: [{ provider: '@a' }, { provider: '@b' }, { provider: '@c' }],
  });

  async function ask(dialect: StreamDialect, config: string) {
    const request = new Request(`http://gw${dialect.path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [question], prompt: 'Hi', input: 'Hi', stream: true }),
      headers: { 'x-gw-api-key': workspaceKey, 'content-type': 'application/json', 'x-gw-config': config },
    });
    const reply = await gateway.handle(incomingOf(request));
    if (!reply || reply === 'upgraded') throw new Error('no answer');
    const response = responseOf(reply);
    const raw = await response.text();
    if (response.status !== 200)
      return { status: response.status, text: '', ended: false, failed: true, sound: false, raw };
    const events = readEvents(encoder.encode(raw));
    const failed = events.some(({ data }) => data !== '[DONE]' && Boolean(dialect.errorOf(JSON.parse(data))));
    return {
      status: response.status,
      text: textIn(dialect, events),
      ended: dialect.isEnd(events.at(-1)?.data ?? ''),
      failed,
      sound: dialect.isSound(events),
      raw,
    };
  }

  return { lab, scripts, asked, alone, rescued, ask };
}
