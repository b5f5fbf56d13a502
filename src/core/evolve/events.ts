/** Events that wait, deferred or in timers: what they are in the new definition, and whether it has a use for them. */
import { isKnown } from "../deferral.ts";
import { descriptorMatches, type Event } from "../event.ts";
import { freeze, freezeDeep, type Json, toJson } from "../json.ts";
import { Nearest } from "../nearest.ts";
import { admitData } from "../payload.ts";
import { inside, messageOf, show, someOf } from "../problem.ts";
import type { EventChange, MigrationScope } from "./mapping.ts";
import type { Move } from "./move.ts";
import { type Pending, pendingEvent } from "./report.ts";
import { said } from "./said.ts";

/** An event as the new definition has it, or why it has none; null if it is not wanted any more. */
export type MovedEvent =
  | { readonly event: Event }
  | { readonly problem: string; readonly fix: string }
  | null;

/** The event as the mapping wants it, with data that fits its schema. */
export function moveEvent(move: Pick<Move, "from" | "to" | "mapping" | "at">, event: Event): MovedEvent {
  const change = move.mapping.events.get(event.type);
  if (change === null) return null;
  try {
    const changed = change === undefined ? event : withChange(event, change, move);
    // What a schema has made of data once need not fit it a second time.
    if (changed.type === event.type && change?.data === undefined && hasSameSchema(move, event.type))
      return { event };
    return { event: admitData(move.to.chart, changed) };
  } catch (error) {
    const fix = `let the migration change its data: \`events\`: { ${JSON.stringify(event.type)}: { type, data } }, or let go of it with null`;
    return { problem: messageOf(error), fix };
  }
}

function withChange(event: Event, { type, data: make }: EventChange, { at }: MigrationScope): Event {
  if (make === undefined) return type === event.type ? event : freeze({ ...event, type });
  const { data: old, ...rest } = event;
  const made = make(old, { at });
  const data = made === undefined ? {} : { data: toJson(made as Json, [], "data") };
  return freezeDeep({ ...rest, type, ...data });
}

function hasSameSchema({ from, to }: Pick<Move, "from" | "to">, type: string): boolean {
  const [before, after] = [from, to].map(
    ({ definition }) => (definition as { events?: Readonly<Record<string, unknown>> }).events?.[type],
  );
  return before === after || said(before) === said(after);
}

/** Whether a machine has a use for such an event in any state. */
export function hears({ chart }: Pick<Move, "chart">, type: string): boolean {
  return isKnown({ chart }, type) || hearsAll({ chart });
}

/** Whether some state takes whatever comes. */
export function hearsAll({ chart }: Pick<Move, "chart">): boolean {
  return chart.nodes.some(({ transitions }) =>
    transitions.some(({ descriptors }) => descriptors.includes("*")),
  );
}

/** Says that the new definition has no such event, and which it might be. */
export function refuseUnheard(move: Move, pending: Pending, at: string, type: string): void {
  const known = move.chart.descriptors.filter(
    (descriptor) => !/^(done|error|after|unknown)\./.test(descriptor),
  );
  const advice = `map it in \`events\`: { ${JSON.stringify(pending.name)}: … }, to null to let go of it; there are ${someOf(known)}`;
  const fix = () => new Nearest().fix(type, known, advice);
  move.refuse(
    pending,
    at,
    `is for the event ${show(type)}, which version ${move.to.version} has no use for`,
    fix,
  );
}

/** The deferred events that go along: those the new definition defers or takes where the run will be. */
export function moveDeferred(move: Move): readonly Event[] {
  return move.state.deferred.flatMap((event, index) => {
    const pending = pendingEvent(event);
    const at = inside("deferred", index);
    const moved = moveEvent(move, event);
    if (moved === null) move.letGo(pending);
    else if ("problem" in moved) move.refuse(pending, at, `cannot be kept: ${moved.problem}`, moved.fix);
    else if (!hasPlace(move, moved.event.type)) refuseUnwanted(move, pending, at, moved.event.type);
    else return [move.keep(pending, event, moved.event, pendingEvent(moved.event))];
    return [];
  });
}

function refuseUnwanted(move: Move, pending: Pending, at: string, type: string): void {
  if (!hears(move, type)) refuseUnheard(move, pending, at, type);
  else {
    const states = move.active.slice(1).map(({ path }) => path);
    const problem = `is neither taken nor deferred in ${someOf(states)}`;
    const fix = `let a state take it, or let go of it with \`events\`: { ${JSON.stringify(pending.name)}: null }`;
    move.refuse(pending, at, problem, fix);
  }
}

/** Whether an event is deferred, or may be taken, in the states that will be active. */
function hasPlace(move: Move, type: string): boolean {
  const { chart, active } = move;
  const { unhandled, matching } = chart;
  const matches = (descriptor: string) => descriptorMatches(descriptor, type, matching);
  if ((isKnown(move, type) ? unhandled.known : unhandled.unknown) === "defer") return true;
  return active.some(
    ({ defer, transitions }) =>
      defer.some(matches) ||
      transitions.some(({ platform, descriptors }) => !platform && descriptors.some(matches)),
  );
}
