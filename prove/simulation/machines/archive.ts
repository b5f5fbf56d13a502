/**
 * An archive of pages that are long enough for snapshots, some of them so long that they are kept beside the journal, once
 * for all archives forked from one another. It is closed for good now and then.
 */
import { defineMachine, type Machine } from "holdfast";
import type { Kind } from "./kind.ts";

interface ArchiveContext {
  /** The newest ones. */
  readonly pages: readonly string[];
  readonly filed: readonly number[];
}

interface Page {
  readonly n: number;
  readonly text: string;
}

const pageOf = (event: { readonly data?: unknown }): Page => event.data as Page;

const pagesMax = 2;

const archiveMachine = defineMachine<ArchiveContext>({
  id: "archive",
  start: { pages: [], filed: [] },
  initial: "open",
  states: {
    open: {
      on: {
        file: {
          update: (draft, { event }) => {
            draft.filed.push(pageOf(event).n);
            draft.pages.push(pageOf(event).text);
            if (draft.pages.length > pagesMax) draft.pages.shift();
          },
        },
        close: "closed",
      },
    },
    closed: { type: "final" },
  },
});

export const archive: Kind = {
  machine: archiveMachine as unknown as Machine,
  runsMin: 2,
  runsMax: 3,
  rests: ["open", "closed"],
  goesBack: true,
  forks: (context) => void (context.filed as number[]).push(-1),
  cancellable: true,
  input: () => ({}),
  order(n, random) {
    if (random.chance(0.1)) return { type: "close", data: { n } };
    const length = random.pick([3_000, 3_900, 3_900, 4_200]);
    // A few of the longest are the same text.
    const text = `page ${length > 4_000 ? n % 3 : n} `.repeat(length).slice(0, length);
    return { type: "file", data: { n, text } };
  },
};
