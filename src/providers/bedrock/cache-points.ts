/** Cache points of a Converse request: it may hold four, and those that last longer stand before the others. */
import { isObject, listOf, objectOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';

const most = 4;

/** The request with as many points as it may hold: of too many the earliest go, for each later one covers them. */
export function withinPoints(request: JsonObject): JsonObject {
  const toolConfig = objectOf(request.toolConfig);
  const lists = [
    toolConfig.tools,
    request.system,
    ...listOf(request.messages).map((message) => objectOf(message).content),
  ];
  const points = lists.flatMap(listOf).filter(isPoint);
  const dropped = new Set<unknown>(points.slice(0, Math.max(0, points.length - most)));
  const kept = points.slice(dropped.size);
  const firstShort = kept.findIndex(({ cachePoint }) => cachePoint.ttl !== '1h');
  const shortened = new Set<unknown>(firstShort === -1 ? [] : kept.slice(firstShort));
  if (dropped.size === 0 && !kept.some((point) => shortened.has(point) && point.cachePoint.ttl === '1h'))
    return request;
  const settled = (blocks: unknown): unknown[] =>
    listOf(blocks)
      .filter((block) => !dropped.has(block))
      .map((block) => (shortened.has(block) && isPoint(block) ? shorter(block) : block));
  return {
    ...request,
    ...(request.toolConfig !== undefined && { toolConfig: { ...toolConfig, tools: settled(toolConfig.tools) } }),
    ...(request.system !== undefined && { system: settled(request.system) }),
    messages: listOf(request.messages).map((message) => ({
      ...objectOf(message),
      content: settled(objectOf(message).content),
    })),
  };
}

type Point = JsonObject & { cachePoint: JsonObject };

const isPoint = (block: unknown): block is Point => isObject(block) && isObject(block.cachePoint);

const shorter = ({ cachePoint }: Point): JsonObject =>
  cachePoint.ttl === '1h' ? { cachePoint: { ...cachePoint, ttl: '5m' } } : { cachePoint };
