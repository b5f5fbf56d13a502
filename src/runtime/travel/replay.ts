/**
 * Replay: the steps of a run taken once more from their recorded events. The results of activities are events too, so
 * nothing is called; the same machine comes to the same state, and another one shows where it would go another way.
 */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import type { State } from "../../core/state.ts";
import type { Step } from "../../core/step.ts";
import { blankState } from "../../core/work.ts";
import { type Entry, foldEntry } from "../../store/journal.ts";
import type { RunHead } from "../../store/records.ts";
import { isControl } from "../control.ts";
import type { Past } from "../live/past.ts";
import type { BoundMachine, Registry } from "../registry.ts";
import { takeStep } from "../take-step.ts";

/** What came of a replay. */
export interface Replay {
  /** How many steps were taken again. */
  readonly steps: number;
  /** The hash of the state that is recorded, and of the one that the replay came to. */
  readonly recorded: string;
  readonly replayed: string;
  /** The first step that went another way, and the state that it led to instead. */
  readonly divergence: { readonly entry: Entry; readonly state: State } | undefined;
}

/** Replays a run, with its own machine in every version it had, or with another one. */
export async function replay(
  past: Past,
  registry: Pick<Registry, "read">,
  head: RunHead,
  other?: Machine,
): Promise<Replay> {
  let { state: recorded } = await past.origin(head);
  let state = recorded;
  let divergence: Replay["divergence"];
  let steps = 0;
  for await (const entry of past.entries(head)) {
    const before = recorded;
    recorded = foldEntry(recorded, entry);
    if (divergence !== undefined) continue;
    steps++;
    const version = (before as unknown as State | null)?.version ?? (recorded as unknown as State).version;
    const machine = other ?? registry.read(head.machine, version).machine;
    state = isMove(entry) ? recorded : again(machine, state as unknown as State | null, entry, head.run);
    if (other !== undefined) state = { ...(state as JsonObject), ...nameOf(recorded) };
    if (!isDeepStrictEqual(state, recorded)) divergence = { entry, state: state as unknown as State };
  }
  return { steps, recorded: stateHash(recorded), replayed: stateHash(state), divergence };
}

/** What does not count as another way when another machine takes the steps. */
function nameOf(state: Json): JsonObject {
  const { machine, version } = state as unknown as State;
  return { machine, version };
}

/** Whether a step goes where only its record says: back, to another version, or to where a fork begins. */
function isMove({ event }: Entry): boolean {
  return isControl(event) && ["rollback", "fork", "migrate"].includes(event.type);
}

/** The state an event leads to; what is about another machine is made this one's. */
function again(machine: Machine, state: State | null, { event, at }: Entry, run: string): Json {
  const { id, version, chart } = machine;
  const from = state === null ? blankState(chart) : { ...state, machine: id, version };
  const step: Step = takeStep({ machine: { machine } as BoundMachine }, from, event, at, run);
  return JSON.parse(JSON.stringify(step.state)) as Json;
}

/** A hash of a state: equal states have equal hashes, in whatever order their fields stand. */
export function stateHash(state: Json): string {
  return hash("sha256", JSON.stringify(sorted(state)), "base64url");
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([key, item]) => [key, sorted(item as Json)]));
}
