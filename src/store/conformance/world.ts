/** What a case of the suite gets and how it is written: a table of named cases, each with a store of its own. */
import type { Store } from "../store.ts";

/** The part of a test framework the suite uses; vitest and jest have it. */
export interface TestKit {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>): void;
  expect: Expect;
}

export type Expect = (actual: unknown, message?: string) => { toEqual(expected: unknown): void };

/** A fresh, open store, and how to come back to what it holds. */
export interface OpenStore {
  readonly store: Store;
  /** Ends this store as a process ends, and opens what it left behind. A store that keeps nothing gives itself. */
  reopen(): Promise<Store>;
  /** Ends the newest store and removes what it left. */
  dispose(): Promise<void>;
}

export interface World extends OpenStore {
  readonly expect: Expect;
}

export type Cases = Readonly<Record<string, (world: World) => Promise<void>>>;
