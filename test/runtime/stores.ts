/** The stores that the tests of the runtime run on. Each kind makes places that are empty, and opens them again and again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memory } from "../../src/store/memory/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

/** Where the data of one test lies. */
export interface Place {
  /** A store on this place, as another process would make it. */
  connect(): Store;
  /** The file the data is in, if there is one. */
  readonly path?: string;
  dispose(): Promise<void>;
}

export const storeKinds: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => {
    const store = memory();
    return { connect: () => store, dispose: async () => {} };
  },
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-runtime-"));
    const path = join(folder, "runs.db");
    return {
      connect: () => sqlite(path),
      path,
      dispose: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};
