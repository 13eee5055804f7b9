/** Ids of files that are addresses of a cloud's storage. Clients encode them once more for a path; some do not. */
export function decodedId(id: string): string {
  try {
    const once = decodeURIComponent(id);
    return once.includes('%') ? decodeURIComponent(once) : once;
  } catch {
    return id;
  }
}
