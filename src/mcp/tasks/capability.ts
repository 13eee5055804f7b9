/** How each era says that it knows tasks. The tasks of the eras differ and are not translated: across eras neither side hears of the other's. */
import { McpError } from '../errors.ts';
import { isFields, type JsonRpcFields } from '../protocol/json-rpc.ts';

/** In the stateless era tasks are an extension; in the session era they are a capability of their own. */
export const taskExtension = 'io.modelcontextprotocol/tasks';

export const hasTaskExtension = ({ extensions }: JsonRpcFields): boolean =>
  isFields(extensions) && extensions[taskExtension] !== undefined;

export function withoutTasks(capabilities: JsonRpcFields): JsonRpcFields {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  if (!isFields(extensions)) return rest;
  const { [taskExtension]: _extension, ...others } = extensions;
  return Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest;
}

/** Throws where a client of the stateless era asks for tasks without having said that it knows them. */
export function requireTaskExtension(capabilities: JsonRpcFields): void {
  if (hasTaskExtension(capabilities)) return;
  throw new McpError('missing_capability', `Missing required client capability: the extension ${taskExtension}`, {
    data: { requiredCapabilities: { extensions: { [taskExtension]: {} } } },
  });
}
