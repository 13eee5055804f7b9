/** Names of the wire as people read them: `workspace_user_api_keys` is `Workspace user API keys`, `rotatesAt` is `Rotates at`. */
export function words(name: string): string {
  const text = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
    .replaceAll(/\bapi ?key/g, 'API key')
    .replaceAll(/\bmcp\b/g, 'MCP');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
