/**
 * One run on its way from one definition to another: the two, the mapping between them, where the run will be, and what
 * has been found so far. Alive for one call.
 *
 * V1. Whatever was pending is told of exactly once.
 */
import type { Chart, Configuration, StateNode } from "../chart.ts";
import { upwards } from "../configuration.ts";
import type { Event } from "../event.ts";
import type { Machine } from "../machine.ts";
import { type Fix, inside, type Problem, problemOf } from "../problem.ts";
import type { State } from "../state.ts";
import { type Mapping, placesOf } from "./mapping.ts";
import type { EvolutionProblem, EvolutionReport, Pending } from "./report.ts";

/** What is asked of a machine here; its types do not matter. */
export type Evolvable = Pick<Machine, "id" | "version" | "chart" | "missing"> & {
  readonly definition: object;
};

/** What became of one pending thing. */
interface Finding {
  readonly before: Pending;
  readonly fate: "kept" | "dropped" | "ended" | "refused";
  /** As it is kept: what it was and what it is now, the same reference if nothing changed. */
  readonly was?: object;
  readonly now?: object;
  readonly after?: Pending;
  readonly problem?: Problem;
}

/** A state that is active before and where it is afterwards. */
export interface Counterpart {
  readonly old: StateNode;
  readonly now: StateNode;
}

export class Move {
  readonly from: Evolvable;
  readonly to: Evolvable;
  readonly state: State;
  readonly mapping: Mapping;
  /** Whether what cannot survive is let go instead of standing in the way. */
  readonly drop: boolean;
  readonly at: number;
  readonly moved: EvolutionReport["moved"][number][] = [];
  readonly begun: Pending[] = [];
  /** The states that will be active, as far as is known, the root first; and those that were. */
  active: readonly StateNode[] = [];
  counterparts: readonly Counterpart[] = [];
  readonly #before: Configuration;
  readonly #problems: EvolutionProblem[] = [];
  #findings: Finding[] = [];

  constructor(
    { from, to }: { readonly from: Evolvable; readonly to: Evolvable },
    state: State,
    before: Configuration,
    { mapping, drop, at }: { readonly mapping: Mapping; readonly drop: boolean; readonly at: number },
  ) {
    this.from = from;
    this.to = to;
    this.state = state;
    this.mapping = mapping;
    this.drop = drop;
    this.at = at;
    this.#before = before;
  }

  get chart(): Chart {
    return this.to.chart;
  }

  /** Notes which leaves will be active. */
  arrive(leaves: readonly StateNode[]): void {
    const active = new Set<StateNode>([this.chart.root, ...leaves.flatMap(upwards)]);
    this.active = [...active].sort((one, other) => one.index - other.index);
    this.counterparts = [this.from.chart.root, ...this.#before.states].flatMap((old) =>
      this.places(old.path)
        .filter((now) => active.has(now))
        .map((now) => ({ old, now })),
    );
  }

  /** The states of the new chart that a state of the old one has become. */
  places(path: string): readonly StateNode[] {
    const nodes = placesOf(this.mapping, this.chart, path).map((place) => this.chart.byPath.get(place));
    return nodes.filter((node) => node !== undefined);
  }

  /** It goes along; `now` is what the new state has of it. */
  keep<Item extends object>(before: Pending, was: Item, now: Item, after: Pending = before): Item {
    this.#findings.push({ before, fate: "kept", was, now, after });
    return now;
  }

  /** Whether something goes along. */
  keeps(was: object): boolean {
    return this.#findings.some((finding) => finding.was === was);
  }

  /** It is not wanted any more. */
  letGo(before: Pending): void {
    this.#findings.push({ before, fate: "dropped" });
  }

  /** It cannot go along, and the run not without it, unless it may be dropped. */
  refuse(before: Pending, path: string, problem: string, fix: Fix): void {
    if (this.drop) this.letGo(before);
    else this.#findings.push({ before, fate: "refused", problem: problemOf(path, problem, fix) });
  }

  /** The run itself cannot go there. */
  problem(path: string, problem: string, fix?: Fix): void {
    this.#problems.push(problemOf(path, problem, fix));
  }

  /** Now that the step is made: what of the things that went along is not there any more. */
  settle(fateOf: (pending: Pending, now: object) => "kept" | "ended" | "lost"): void {
    const findings = this.#findings;
    this.#findings = [];
    for (const finding of findings) {
      const { after, now } = finding;
      const fate = after === undefined || now === undefined ? "kept" : fateOf(after, now);
      if (fate === "kept") this.#findings.push(finding);
      else if (fate === "ended") this.#findings.push({ before: finding.before, fate });
      else {
        const problem = "is neither taken nor deferred where the run would be";
        this.refuse(finding.before, this.#pathOf(finding), problem, "let a state take it, or map it to null");
      }
    }
  }

  #pathOf({ was }: Finding): string {
    return inside("deferred", this.state.deferred.indexOf(was as Event));
  }

  report(): EvolutionReport {
    const { state, to, moved, begun } = this;
    const of = (fate: Finding["fate"]) => this.#findings.filter((finding) => finding.fate === fate);
    const kept = of("kept");
    return {
      machine: state.machine,
      from: state.version,
      to: to.version,
      moved,
      survived: kept.filter(({ was, now }) => was === now).map(({ before }) => before),
      changed: kept
        .filter(({ was, now }) => was !== now)
        .map(({ before, after }) => ({ before, after: after as Pending })),
      dropped: of("dropped").map(({ before }) => before),
      ended: of("ended").map(({ before }) => before),
      begun,
      refused: [
        ...this.#problems,
        ...of("refused").map(({ before, problem }) => ({ ...(problem as Problem), pending: before })),
      ],
    };
  }
}
