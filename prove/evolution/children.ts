/**
 * The account of what runs have under way, and of their children as runs of their own: from the journals and the heads
 * in the store, and nothing that `evolve` says.
 *
 * E11. What a machine is said to have ended in a move it has ended: the state that owned it was left, is entered anew
 *      and has begun it again, or the run is over.
 * E12. A child that has not ended is one its parent waits for; a child its parent waits for is there and has not ended. A
 *      child that was cancelled was let go of in its parent's journal, and its parent hears no more of it; of any other
 *      it hears what became of it. One that ended in the moment it was let go of is heard of, and that is right.
 */
import { compensationName, settles, settlesWell } from "../../src/core/event.ts";
import type { Pending } from "../../src/core/evolve/report.ts";
import type { Activity, Child, State, Timer } from "../../src/index.ts";
import type { Entry } from "../../src/store/journal.ts";
import type { RunHead } from "../../src/store/records.ts";

/** A child, as its parent's journal tells of it. */
interface Kin {
  readonly parent: string;
  readonly key: string;
  /** It undoes what its parent did, also when that is over. */
  readonly undoes: boolean;
  /** Its parent wants it no longer. */
  letGo: boolean;
  /** How its parent heard of its end. */
  heard?: "well" | "badly";
}

type Violate = (rule: string, what: string) => void;

/** The path of a state in the version a move leads to. */
export type Place = (path: string) => string;

/** Things that a move is said to have ended, and that it cannot have: E11. */
export function notEnded(before: State, after: State, ended: readonly Pending[], place: Place): string[] {
  if (after.status !== "active") return [];
  const owned = (state: State) => [...state.timers, ...state.activities, ...state.children];
  const told = new Set(ended.map(({ key }) => key));
  return owned(before).flatMap((one) => {
    if (one.state === undefined || !told.has(one.key)) return [];
    const state = place(one.state);
    if (!isActive(after, state)) return [];
    const isAnew = owned(after).some(
      (other) => other.state === state && isAlike(one, other) && Number.parseInt(other.key, 10) === after.seq,
    );
    return isAnew ? [] : [`${one.key} of ${state === "" ? "the run" : state}`];
  });
}

/** Whether a state is among the active ones, which are written as their leaves. */
const isActive = ({ configuration }: State, path: string): boolean =>
  path === "" || configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`));

function isAlike(one: Timer | Activity | Child, other: Timer | Activity | Child): boolean {
  if ("activity" in one) return "activity" in other;
  return "machine" in one ? "machine" in other && one.machine === other.machine : "due" in other;
}

export class Children {
  readonly #kin = new Map<string, Kin>();
  readonly #violate: Violate;
  /** Children that there were. */
  get count(): number {
    return this.#kin.size;
  }

  constructor(violate: Violate) {
    this.#violate = violate;
  }

  /** Takes in what an entry of a parent tells of its children. */
  read(run: string, machine: string, { event, effects }: Entry): void {
    const of = (key: string) => this.#kin.get(`${run}/${key}`);
    const kin = event.invocation === undefined ? undefined : of(event.invocation);
    if (kin !== undefined && settles(event)) kin.heard = settlesWell(event) ? "well" : "badly";
    for (const effect of effects)
      if (effect.type === "spawn") {
        const undoes = effect.machine === compensationName(machine);
        this.#kin.set(`${run}/${effect.key}`, { parent: run, key: effect.key, undoes, letGo: false });
      } else if (effect.type === "cancel" && effect.of === "child") {
        const child = of(effect.key);
        if (child !== undefined) child.letGo = true;
      }
  }

  /** Compares the children of a run with what it waits for, once all is at rest. `parked`: it takes no events. */
  async compare(
    { run, parked }: { readonly run: string; readonly parked: boolean },
    { status, children }: State,
    headOf: (run: string) => Promise<RunHead | undefined>,
  ): Promise<void> {
    const awaited = new Set(children.map(({ key }) => key));
    for (const key of awaited)
      if (!this.#kin.has(`${run}/${key}`)) this.#violate("E12", `${run} waits for ${key}, which never began`);
    for (const [name, kin] of this.#kin) {
      if (kin.parent !== run) continue;
      const head = await headOf(name);
      const is = head?.status ?? "not there";
      const lives = is === "active" || is === "parked";
      const isUnwatched = kin.undoes && status !== "active";
      if (lives !== awaited.has(kin.key) && !(lives ? isUnwatched : parked))
        this.#violate(
          "E12",
          `${name} is ${is}, and its parent waits for ${[...awaited].join(", ") || "none"}`,
        );
      if (is === "cancelled" && !kin.letGo)
        this.#violate("E12", `${name} is cancelled, and its parent never let go of it`);
      const isWrong = is === "cancelled" || (kin.heard === "well") !== (is === "done");
      if (kin.heard !== undefined && isWrong)
        this.#violate("E12", `${run} heard that ${name} ended ${kin.heard}, and it is ${is}`);
    }
  }
}
