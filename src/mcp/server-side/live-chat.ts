/** The stream of a loop in chat completions. */

import { jsonOf, type LiveView, type ModelEvent, ModelStreamFailed } from './live.ts';
import { asList, asObject, type Json, sse } from './tool-calls.ts';

interface Round {
  content: string;
  calls: Map<number, { id: string; name: string; arguments: string }>;
  finish: unknown;
  usage: Json;
}

const newRound = (): Round => ({ content: '', calls: new Map(), finish: null, usage: {} });

export class LiveChat implements LiveView {
  readonly #withUsage: boolean;
  /** What every chunk says of the answer: as the first round began. */
  #base: Json | null = null;
  #round = newRound();

  constructor(body: Json) {
    this.#withUsage = asObject(body.stream_options).include_usage === true;
  }

  push(event: ModelEvent): string {
    const chunk = jsonOf(event.data);
    if (!chunk) return '';
    if (chunk.error !== undefined) throw new ModelStreamFailed(event);
    const { choices, usage, ...head } = chunk;
    const isFirst = this.#base === null;
    this.#base ??= head;
    if (usage) this.#round.usage = asObject(usage);
    const [choice] = asList(choices);
    if (!choice) return '';
    const { tool_calls, role, ...said } = asObject(choice.delta);
    if (choice.finish_reason) this.#round.finish = choice.finish_reason;
    if (typeof said.content === 'string') this.#round.content += said.content;
    this.#gather(asList(tool_calls));
    const shown = isFirst ? { role: role ?? 'assistant', ...said } : said;
    const isEmpty = Object.values(shown).every((value) => value === '' || value === null);
    return isEmpty ? '' : this.#chunk(shown);
  }

  #gather(deltas: readonly Json[]): void {
    for (const [place, { index, id, function: called }] of deltas.entries()) {
      const at = typeof index === 'number' ? index : place;
      const known = this.#round.calls.get(at) ?? { id: '', name: '', arguments: '' };
      const { name, arguments: given } = asObject(called);
      this.#round.calls.set(at, {
        id: typeof id === 'string' && id !== '' ? id : known.id,
        name: known.name + (typeof name === 'string' ? name : ''),
        arguments: known.arguments + (typeof given === 'string' ? given : ''),
      });
    }
  }

  #chunk(delta: Json, finish: unknown = null): string {
    return sse(null, { ...this.#base, choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  answer(): Json {
    const { content, calls, finish, usage } = this.#round;
    this.#round = newRound();
    return {
      ...this.#base,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: content === '' ? null : content,
            ...(calls.size > 0 && {
              tool_calls: [...calls.values()].map(({ id, ...called }) => ({ id, type: 'function', function: called })),
            }),
          },
          finish_reason: finish ?? 'stop',
        },
      ],
      usage,
    };
  }

  /** Texts alone are streamed in this dialect; what was executed stands in the last chunk. */
  executing(): string {
    return '';
  }

  executed(): string {
    return '';
  }

  end(final: Json): string {
    const [choice] = asList(final.choices);
    const { tool_calls, gw_mcp, gw_mcp_limited } = asObject(choice?.message);
    const calls = asList(tool_calls).map((call, index) => ({ index, ...call }));
    const last = {
      ...(gw_mcp !== undefined && { gw_mcp }),
      ...(gw_mcp_limited !== undefined && { gw_mcp_limited }),
    };
    return [
      ...(calls.length > 0 ? [this.#chunk({ tool_calls: calls })] : []),
      this.#chunk(last, choice?.finish_reason ?? 'stop'),
      ...(this.#withUsage ? [sse(null, { ...this.#base, choices: [], usage: final.usage })] : []),
      sse(null, '[DONE]'),
    ].join('');
  }

  fail(message: string): string {
    return sse(null, { error: { message, type: 'api_error', param: null, code: 'server_side_tools_failed' } });
  }
}
