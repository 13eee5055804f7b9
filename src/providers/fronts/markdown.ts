/** Images and files that a model made, for dialects whose answers hold nothing but text. */
import type { MediaPart } from '../chat/conversation.ts';

export function asMarkdown({ kind, mime, source, name }: MediaPart): string {
  if (source.from === 'text') return source.text;
  const address = source.from === 'data' ? `data:${mime};base64,${source.base64}` : addressOf(source);
  return `${kind === 'image' ? '!' : ''}[${name ?? kind}](${address})`;
}

const addressOf = (source: Extract<MediaPart['source'], { from: 'url' | 'file' }>): string =>
  source.from === 'url' ? source.url : source.id;
