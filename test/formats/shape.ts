/** What a machine looks like and what it does, in a form that two machines can be compared by. */
import type { StateNode, TransitionNode } from "../../src/core/chart.ts";
import type { Event } from "../../src/core/event.ts";
import type { Machine } from "../../src/core/machine.ts";
import { simulate } from "../../src/core/simulate.ts";
import { isHoldfastError } from "../../src/errors.ts";

/** The structure of a machine: states, where they begin, what they listen to and where that leads. */
export function shapeOf({ chart }: Machine): unknown[] {
  return chart.nodes.map((node) => ({
    path: node.path,
    kind: node.kind,
    deep: node.deep,
    tags: [...node.tags],
    begins: node.initial?.targets.map(({ path }) => path),
    acts: node.initial?.run !== undefined,
    transitions: node.transitions.map(transitionShape),
    eventless: node.eventless.map(transitionShape),
    entry: node.entry.length > 0,
    exit: node.exit.length > 0,
    delays: node.delays.length,
    invokes: node.invokes.length,
    output: isEnd(node) ? undefined : node.output !== undefined,
  }));
}

/** Outputs of the machine's own ends may be written on them or on the machine. */
const isEnd = ({ parent, kind }: StateNode): boolean =>
  parent === undefined || (parent.parent === undefined && kind === "final");

function transitionShape({ descriptors, targets, reenter, guard, run, platform }: TransitionNode): unknown {
  return {
    on: platform ? [] : descriptors,
    platform,
    targets: targets.map(({ path }) => path).sort(),
    reenter: reenter && targets.length > 0,
    guarded: guard !== undefined,
    acts: run !== undefined,
  };
}

export interface Behaviour {
  readonly configuration: readonly string[];
  readonly context: unknown;
  readonly status: string;
  readonly output: unknown;
  readonly logs: readonly unknown[];
}

/** What shows after the start and after each event; the name of the bound where one was met. */
export function behaviourOf(machine: Machine, events: readonly Event[]): (Behaviour | string)[] {
  const seen: (Behaviour | string)[] = [];
  try {
    const simulation = simulate(machine);
    let told = 0;
    const look = () => {
      const { configuration, context, status, output } = simulation.state;
      const logs = simulation.logs.slice(told).map(({ data }) => data);
      told = simulation.logs.length;
      seen.push({ configuration, context, status, output, logs });
    };
    look();
    for (const event of events) {
      const { error } = simulation.send(event);
      if (error?.code === "STEP_UNBOUNDED") return [...seen, error.code];
      look();
    }
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    seen.push(error.code);
  }
  return seen;
}
