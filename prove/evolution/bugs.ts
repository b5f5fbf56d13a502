/** Bugs to plant: what the proof must find. Each changes production sources as they are loaded. */
import type { Change } from "../simulation/plant.ts";

export interface Bug extends Change {
  readonly name: string;
  /** The rules it breaks: whichever is looked at first is told. */
  readonly breaks: readonly string[];
}

const evolution = "src/runtime/evolution/evolution.ts";

export const bugs: readonly Bug[] = [
  {
    name: "pinned-runs-are-upgraded",
    breaks: ["E2"],
    file: "src/runtime/registry.ts",
    find: `if (newest?.evolution === "upgrade")`,
    replace: "if (newest !== undefined)",
  },
  {
    name: "the-old-definition-goes-on",
    // The core does not take states of other versions, so it is told by an error.
    breaks: ["E1", "error"],
    file: "src/runtime/turn.ts",
    find: "this.machine = this.#world.registry.read(this.state.machine, this.state.version);",
    replace: "this.machine = this.#world.registry.read(this.state.machine, 1);",
  },
  {
    name: "what-was-let-go-is-not-told",
    breaks: ["E3"],
    file: evolution,
    find: `(["moved", "changed", "dropped", "ended", "begun"] as const)`,
    replace: `(["moved", "changed", "ended", "begun"] as const)`,
  },
  {
    name: "whatever-is-in-the-way-is-let-go",
    breaks: ["E2", "E4"],
    file: evolution,
    find: "...{ at, run, drop, reverse },",
    replace: "...{ at, run, drop: true || drop, reverse },",
  },
  {
    name: "a-trial-moves-runs",
    breaks: ["E6"],
    file: evolution,
    find: "if (options.dryRun) return plan;",
    replace: "",
  },
  {
    name: "upgrades-do-not-come",
    breaks: ["E9"],
    file: evolution,
    find: "if (to === undefined || to <= head.version) return;",
    replace: "if (to !== 0) return;",
  },
  {
    name: "a-deploy-leaves-runs-behind",
    breaks: ["E9"],
    file: "src/runtime/evolution/deploy.ts",
    find: "if (left.length > 0 && !leave) {",
    replace: "if (left.length > 1_000 && !leave) {",
  },
  {
    name: "timers-wait-longer",
    breaks: ["E5"],
    file: "src/core/evolve/evolve.ts",
    find: "timers: sameList(state.timers, timers.timers()),",
    replace: "timers: timers.timers().map((timer) => ({ ...timer, due: timer.due + 1 })),",
  },
  {
    name: "activities-outlive-their-states",
    breaks: ["E2", "E3"],
    file: "src/core/evolve/evolve.ts",
    find: "work.cancelActivities(isGone);",
    replace: "",
  },
  {
    name: "children-outlive-their-states",
    breaks: ["E2", "E3"],
    file: "src/core/evolve/evolve.ts",
    find: "work.cancelChildren(isGone);",
    replace: "",
  },
  {
    name: "children-are-dropped-and-said-to-have-ended",
    breaks: ["E11"],
    file: "src/core/evolve/evolve.ts",
    find: "children: sameList(state.children, children),",
    replace: "children: sameList(state.children, children.slice(1)),",
  },
  {
    name: "activities-are-dropped-and-said-to-have-ended",
    breaks: ["E11"],
    file: "src/core/evolve/evolve.ts",
    find: "activities: sameList(state.activities, activities),",
    replace: "activities: sameList(state.activities, activities.slice(1)),",
  },
  {
    name: "children-that-were-let-go-live-on",
    breaks: ["E12"],
    file: "src/runtime/outbox.ts",
    find: `else if (of === "child") this.send(`,
    replace: `else if (of === "child" && key === "") this.send(`,
  },
  {
    name: "children-that-were-let-go-are-said-to-be-done",
    breaks: ["E12"],
    file: "src/runtime/outbox.ts",
    find: "#keepCancel({ of, key }: CancelEffect, head: RunHead, at: number): void {",
    replace: `#keepCancel({ of, key, id }: CancelEffect, head: RunHead, at: number): void {
    if (of === "child") this.send(head, head.run, settledEvent({ id: id as string, key }, {}), at, expendable);`,
  },
  {
    name: "what-was-done-can-no-longer-be-undone",
    breaks: ["E3", "E7"],
    file: "src/core/evolve/evolve.ts",
    find: "...(compensations === undefined ? {} : { compensations }),",
    replace: "",
  },
  {
    name: "lists-are-forgotten",
    // Its workers are under way all the same, and come to nothing.
    breaks: ["E3", "E7"],
    file: "src/core/evolve/evolve.ts",
    find: "...(maps === undefined ? {} : { maps }),",
    replace: "",
  },
  {
    name: "contexts-stay-as-they-were",
    breaks: ["E10"],
    file: "src/core/evolve/context.ts",
    find: "mapping.context === undefined\n        ? state.context",
    replace: "mapping.context === undefined || state.seq > 0\n        ? state.context",
  },
  {
    name: "the-way-back-is-forgotten",
    breaks: ["E2", "E7", "E10"],
    file: "src/core/evolve/evolve.ts",
    find: "if (back !== undefined) return back;",
    replace: "if (back !== undefined) return identity;",
  },
];
