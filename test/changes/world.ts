/** For tests of table changes: a database with tables, a runtime, and a machine that remembers what it was told. */
import { createRuntime, defineMachine, type JsonObject, type Runtime } from "../../src/index.ts";
import type { TableChanges } from "../../src/runtime/changes/index.ts";
import { memory } from "../../src/store/memory/index.ts";

/** Remembers the data of every `note`, and ends with `end`. */
export const notebook = defineMachine<{ notes: JsonObject[] }>({
  id: "notebook",
  start: ({ input }) => ({ notes: input === undefined ? [] : [input as JsonObject] }),
  initial: "open",
  states: {
    open: {
      on: {
        note: { update: (draft, { event }) => void draft.notes.push(event.data as JsonObject) },
        end: "closed",
      },
    },
    closed: { type: "final" },
  },
});

/** A runtime in memory with some notebooks begun. */
export async function openRuntime(...ids: string[]): Promise<Runtime> {
  const runtime = await createRuntime({ store: memory(), machines: [notebook] });
  for (const id of ids) await runtime.start(notebook, { id });
  return runtime;
}

/** What a notebook was told, in order. */
export async function notesOf(runtime: Runtime, id: string, tenant?: string): Promise<JsonObject[]> {
  const run = await runtime.run(id, tenant === undefined ? {} : { tenant });
  return (await run.state()).context.notes as unknown as JsonObject[];
}

/** Resolves when nothing waits in the outbox any more; throws what keeps it there. */
export async function delivered(changes: TableChanges): Promise<void> {
  for (;;) {
    const { waiting, problem } = await changes.status();
    if (problem !== undefined) throw problem;
    if (waiting === 0) return;
  }
}

/** Resolves when it is known that the database wakes us; hangs if it never does. */
export async function listening(changes: TableChanges): Promise<void> {
  while (!(await changes.status()).listening);
}

export async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
