/** The traces of calls that are under way: their records are not in the spool yet. */
interface OpenCall {
  readonly traceId: string;
  readonly workspace: { readonly workspaceId: string };
}

export class OpenTraces {
  readonly #calls = new Map<object, OpenCall>();

  /** `token` is whatever stands for the call until it ends. */
  begin(token: object, call: OpenCall): void {
    this.#calls.set(token, call);
  }

  /** The call has ended and its record was appended. */
  end(token: object): void {
    this.#calls.delete(token);
  }

  /** Those of these traces that a call of the workspace belongs to. */
  among(workspaceId: string, traceIds: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    for (const { traceId, workspace } of this.#calls.values()) {
      if (traceIds.has(traceId) && workspace.workspaceId === workspaceId) found.add(traceId);
    }
    return found;
  }
}
