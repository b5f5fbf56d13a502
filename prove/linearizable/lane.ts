/** What the cells are kept in. A lane is told to other processes as text. */
import { fileStore } from "../../src/store/file/store.ts";
import { memory } from "../../src/store/memory/store.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

/** A kind of store, and the path or URL of what it is on. A fleet is clients with runtimes of their own on one PostgreSQL. */
export interface Lane {
  readonly store: keyof typeof makers;
  readonly place: string;
}

const makers = {
  memory: () => memory(),
  SQLite: (place: string) => sqlite(place),
  file: (place: string) => fileStore({ directory: place }),
  PostgreSQL: (place: string) => postgres(place, { shared: false }),
  fleet: (place: string) => postgres(place),
} as const satisfies Record<string, (place: string) => Store>;

export type LaneName = Lane["store"];
export const laneNames = Object.keys(makers) as readonly LaneName[];

export const storeOf = ({ store, place }: Lane): Store => makers[store](place);
