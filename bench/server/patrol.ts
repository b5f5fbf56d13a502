/** A machine whose every step shows in all panes of Studio: other states of the chart, another row, another context. */
import { defineMachine } from "../../src/index.ts";

interface Watch {
  ticks: number;
  note: string;
  seen: string[];
}

const posts = ["north", "east", "south", "west"] as const;

/** The post where it stands after so many steps, of which the first is its start. */
export const postAt = (seq: number): string => posts[(seq - 1) % posts.length] as string;

const walkTo = (target: string) => ({
  target,
  update: (draft: Watch) => {
    draft.ticks++;
    draft.note = `tick ${draft.ticks}`;
    draft.seen = [...draft.seen.slice(-19), draft.note];
  },
});

export const patrol = defineMachine<Watch>({
  id: "patrol",
  type: "parallel",
  start: { ticks: 0, note: "", seen: [] },
  states: {
    walk: {
      initial: "north",
      states: Object.fromEntries(
        posts.map((post, index) => [post, { on: { tick: walkTo(postAt(index + 2)) } }]),
      ),
    },
    lamp: {
      initial: "dark",
      states: { dark: { on: { tick: "lit" } }, lit: { on: { tick: "dark" } } },
    },
  },
});
