/** What a replayed stream of messages says. */
export function anthropicMessage(stream: string): { text: string; last: string } {
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  const text = events.map((event) => event.delta?.text ?? '').join('');
  return { text, last: events.at(-1)?.type };
}
