/** The native route on clouds: the client's own body and answers, but for what the cloud wants otherwise. */
import { ProviderFault, RequestFault } from '../faults.ts';
import { isObject, listOf, objectOf, parsed, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { addressed } from './request.ts';
import type { AnthropicSurface } from './surface.ts';

/** Said elsewhere on a surface whose address names the model. */
const moved = new Set(['model', 'stream', 'anthropic_beta', 'anthropic_version']);

export function nativeMessages(surface: AnthropicSurface): Translation {
  return {
    ...(surface.inlineMedia && { media: ({ body }) => sourcesIn(body).flatMap(({ url }) => textOf(url) ?? []) }),
    request: (facts) => nativeBody(facts, surface),
    response: (answer) => {
      if (isObject(answer)) return answer;
      throw new ProviderFault(502, `the answer is no message: ${JSON.stringify(answer).slice(0, 500)}`);
    },
    stream: () => ({
      event: (event) => {
        const own = surface.unwrap ? surface.unwrap(event) : event;
        return own ? [{ ...own, event: own.event ?? textOf(objectOf(parsed(own.data)).type) }] : [];
      },
      end: () => [],
    }),
  };
}

/** The body as the surface wants it: without what its address says, with fetched media in place of addresses. */
export function nativeBody(facts: CallFacts, surface: AnthropicSurface): JsonObject {
  const { model, stream } = facts;
  const body = withoutForeignThoughts(facts.body);
  const rest = Object.fromEntries(Object.entries(body).filter(([field]) => !moved.has(field)));
  const inline = surface.inlineMedia ? { messages: withMedia(body.messages, facts) } : {};
  return { ...addressed({ model, stream }, facts, surface), ...rest, ...inline };
}

const isAddress = (value: unknown): value is JsonObject =>
  isObject(value) && value.type === 'url' && textOf(value.url) !== null;

/** The sources of images and documents that stand at an address, also inside results of tools. */
const sourcesIn = ({ messages }: Readonly<JsonObject>): JsonObject[] =>
  blocksIn(listOf(messages).flatMap((message) => listOf(objectOf(message).content)))
    .map((block) => block.source)
    .filter(isAddress);

const blocksIn = (blocks: readonly unknown[]): JsonObject[] =>
  blocks.filter(isObject).flatMap((block) => [block, ...blocksIn(listOf(block.content))]);

const withMedia = (messages: unknown, facts: CallFacts): unknown =>
  listOf(messages).map((message) =>
    isObject(message) && Array.isArray(message.content)
      ? { ...message, content: inlinedBlocks(message.content, facts) }
      : message,
  );

const inlinedBlocks = (blocks: readonly unknown[], facts: CallFacts): unknown[] =>
  blocks.map((block) => {
    if (!isObject(block)) return block;
    if (Array.isArray(block.content)) return { ...block, content: inlinedBlocks(block.content, facts) };
    return isAddress(block.source) ? { ...block, source: inlinedSource(block.source, facts) } : block;
  });

function inlinedSource({ url }: JsonObject, { media }: CallFacts): JsonObject {
  const fetched = media.get(String(url));
  if (!fetched) throw new RequestFault('messages', `the media at ${String(url).slice(0, 200)} was not fetched`);
  return { type: 'base64', media_type: fetched.mime, data: fetched.base64 };
}
