/** What clients said they did, by cell, kept where none of them can be killed. */
import { type Call, checkCell, describe } from "./checker.ts";
import type { Repeat, Said } from "./client.ts";

export class History {
  readonly #calls = new Map<
    string,
    { readonly run: string; readonly call: Call; readonly insists: boolean }
  >();

  /** Takes one line of a client. */
  hear(line: string): void {
    const said = JSON.parse(line) as Said;
    if ("from" in said) {
      const { id, run, insists, ...call } = said;
      this.#calls.set(id, { run, call, insists });
      return;
    }
    const { id, until, answer } = said;
    const begun = this.#calls.get(id);
    if (begun === undefined) throw new Error(`${id} was answered and never called`);
    this.#calls.set(id, { ...begun, call: { ...begun.call, until, answer } });
  }

  /** The calls of each cell. */
  get cells(): ReadonlyMap<string, readonly Call[]> {
    const cells = new Map<string, Call[]>();
    for (const { run, call } of this.#calls.values()) {
      const calls = cells.get(run);
      if (calls === undefined) cells.set(run, [call]);
      else calls.push(call);
    }
    return cells;
  }

  get figures(): { readonly operations: number; readonly lost: number } {
    const calls = [...this.#calls.values()];
    return { operations: calls.length, lost: calls.filter(({ call }) => call.until === undefined).length };
  }

  /** What one of these clients insisted on and was not answered. */
  unanswered(clients: ReadonlySet<string>): Repeat[] {
    return [...this.#calls].flatMap(([id, { run, call, insists }]) =>
      insists && call.until === undefined && clients.has(call.client)
        ? { id, run, operation: call.operation }
        : [],
    );
  }

  /** What these clients wait for. */
  open(clients: ReadonlySet<string>): string[] {
    return [...this.#calls].flatMap(([id, { run, call, insists }]) =>
      call.until === undefined && clients.has(call.client)
        ? `${run}: ${id} ${insists ? "insists on" : "does"} ${JSON.stringify(call.operation)}`
        : [],
    );
  }

  /** What is wrong with it. */
  check(): string[] {
    return [...this.cells].flatMap(([run, calls]) => {
      const verdict = checkCell(calls);
      return verdict.verdict === "linearizable" ? [] : `${run} is ${describe(verdict)}`;
    });
  }
}
