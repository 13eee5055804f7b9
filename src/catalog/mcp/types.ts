/** What is known of an upstream MCP server and of each thing that it offers. */

export const capabilityTypes = ['tool', 'prompt', 'resource', 'resource_template'] as const;
export type CapabilityType = (typeof capabilityTypes)[number];

/** A tool, prompt, resource or template in the upstream's own words. */
export type CapabilityDefinition = Readonly<Record<string, unknown>>;

/** Who the upstream says that it is. */
export interface McpMetadata {
  name?: string;
  version?: string;
  title?: string;
  description?: string;
  icons?: readonly unknown[];
  website_url?: string;
  protocol_version?: string;
  instructions?: string;
  capability_flags?: Readonly<Record<string, unknown>>;
}

/** The key under which an upstream's listing names one of its capabilities; null where it has none. */
export function capabilityKey(type: CapabilityType, definition: CapabilityDefinition): string | null {
  const field = type === 'resource' ? 'uri' : type === 'resource_template' ? 'uriTemplate' : 'name';
  const key = definition[field];
  return typeof key === 'string' && key !== '' ? key : null;
}
