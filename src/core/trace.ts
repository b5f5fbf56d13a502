/** The trace of a step: what it looked at and what it did, for people and tools. Made only when asked for. */
import type { Plan, StateNode, TransitionNode } from "./chart.ts";
import type { Event } from "./event.ts";

export interface Trace {
  readonly microsteps: readonly Microstep[];
  /** The guards asked after the last microstep: why nothing more happened. */
  readonly guards: readonly TracedGuard[];
}

export interface Microstep {
  /** Absent for eventless transitions. */
  readonly event?: Event;
  /** The guards asked before it, in order. */
  readonly guards: readonly TracedGuard[];
  readonly taken: readonly TracedTransition[];
  readonly exited: readonly string[];
  readonly entered: readonly string[];
  readonly configuration: readonly string[];
}

export interface TracedGuard {
  readonly transition: TracedTransition;
  readonly holds: boolean;
}

export interface TracedTransition {
  readonly source: string;
  /** The event key it listens to; empty for an eventless one. */
  readonly on: string;
  readonly targets: readonly string[];
}

/** Collects microsteps; the guards asked since the last one belong to the next. */
export class Tracer implements Trace {
  readonly microsteps: Microstep[] = [];
  guards: TracedGuard[] = [];

  guard(transition: TransitionNode, holds: boolean): void {
    this.guards.push({ transition: traced(transition), holds });
  }

  microstep(event: Event | undefined, plan: Plan): void {
    this.microsteps.push({
      ...(event === undefined ? {} : { event }),
      guards: this.guards,
      taken: plan.transitions.map(traced),
      exited: plan.exits.map(pathOf),
      // The root is entered once, by every machine: no news.
      entered: plan.entries.filter(({ node }) => node.parent !== undefined).map(({ node }) => node.path),
      configuration: plan.next.paths,
    });
    this.guards = [];
  }
}

function traced(transition: TransitionNode): TracedTransition {
  return {
    source: transition.source.path,
    on: transition.descriptors.join(" "),
    targets: transition.targets.map(pathOf),
  };
}

function pathOf(node: StateNode): string {
  return node.path;
}
