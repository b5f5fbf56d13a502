/** Travel and evolution: going back, forking, and going to another version (invariants 13 and 15). */
import { type Event, evolve, type State } from "holdfast";
import { isControl } from "../../../src/runtime/control.ts";
import { definitionHash } from "../../../src/runtime/definition-hash.ts";
import type { Commit } from "../../../src/store/store.ts";
import type { Journey, Ledger } from "../ledger.ts";
import { kindOf, machineOf } from "../machines/kinds.ts";
import { beginningsOf, type ModelEntry, type ModelRun } from "../model.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";

/** The entries that led to a run's state, the oldest first: without what it went back over, and with its source's. */
export function lineOf(run: ModelRun, last = run.entries.length): ModelEntry[] {
  const line: ModelEntry[] = [];
  let [of, seq] = [run, last];
  for (let entry = of.entries[seq - 1]; entry !== undefined; entry = of.entries[seq - 1]) {
    line.push(entry);
    const { type, data } = entry.event;
    const place = isControl(entry.event) ? (data as { to: number; run: string; seq: number }) : undefined;
    if (place !== undefined && type === "rollback") seq = place.to;
    else if (place !== undefined && type === "fork") {
      seq = place.seq;
      of = of.source ?? of;
    } else seq--;
  }
  return line.reverse();
}

const hashes = new Map<string, string>();

function hashOf(state: Pick<State, "machine" | "version">): string {
  const name = `${state.machine}@${state.version}`;
  const known = hashes.get(name) ?? definitionHash(machineOf(state).definition);
  hashes.set(name, known);
  return known;
}

/** The entries of a commit: who took them, and what became of what was pending. */
export function checkTravel(
  run: ModelRun,
  commit: Commit,
  entries: readonly ModelEntry[],
  report: Report,
): void {
  const { head } = commit;
  let before: State | undefined = run.state;
  const begun = new Set<string>();
  for (const entry of entries) {
    const { stepped, seq, hash, event } = entry;
    const what = `entry ${seq} of ${head.run} (${event.type})`;
    const taker = before ?? { ...stepped.state };
    if (hash !== hashOf(taker)) report(15, `${what} is taken by another definition than the run's`);
    if (!isSame(entry.dropped ?? [], stepped.dropped))
      report(13, `${what} lets go of ${show(entry.dropped ?? [])}, and should of ${show(stepped.dropped)}`);
    if (before !== undefined && isControl(event) && event.type === "migrate")
      checkMigrated(before, entry, what, report);
    for (const key of beginningsOf(entry)) {
      if (begun.has(key) || run.begun.has(key)) report(13, `${what} begins ${key}, which was begun before`);
      begun.add(key);
    }
    before = stepped.state;
  }
  if (before !== undefined && (head.version !== before.version || head.hash !== hashOf(before)))
    report(15, `${head.run} is of version ${before.version}, and its head says ${head.version}`);
}

interface Told {
  readonly kind: string;
  readonly key?: string;
}

/** Whatever was pending goes along, or the entry says what became of it. */
function checkMigrated(
  before: State,
  { event, stepped, dropped = [] }: ModelEntry,
  what: string,
  report: Report,
): void {
  const { from, to, ...lists } = event.data as unknown as {
    readonly from: number;
    readonly to: number;
    readonly dropped?: readonly Told[];
    readonly ended?: readonly Told[];
  };
  const { state } = stepped;
  if (from !== before.version || to !== state.version || from === to)
    report(15, `${what} goes from ${from} to ${to}, and the run from ${before.version} to ${state.version}`);
  const told = [...(lists.dropped ?? []), ...(lists.ended ?? [])];
  for (const list of ["timers", "activities", "children"] as const)
    for (const { key } of before[list])
      if (!state[list].some((one) => one.key === key) && !told.some((one) => one.key === key))
        report(15, `${what} forgets ${key}`);
  const events = told.filter(({ kind }) => kind === "event").length;
  const gone = before.deferred.length - state.deferred.length;
  if (gone !== events) report(15, `${what} tells of ${events} deferred events, and ${gone} are gone`);
  const lost = (lists.dropped ?? []).filter(({ kind }) => kind === "event").length;
  if (lost !== dropped.length)
    report(15, `${what} tells of ${lost} events that were let go of, and lets go of ${dropped.length}`);
}

/** Runs go back and change as often as they were asked to, and forks begin where they were asked to. */
export function checkAsked(
  run: ModelRun,
  entries: readonly ModelEntry[],
  ledger: Ledger,
  report: Report,
): void {
  const { run: name, fork } = run.head;
  for (const type of ["rollback", "migrate"] as const) {
    if (!entries.some(({ event }) => isControl(event) && event.type === type)) continue;
    const times = run.entries.filter(({ event }) => isControl(event) && event.type === type).length;
    const journeys = ledger.journeys.filter((one) => one.run === name && one.type === type);
    const asked = journeys.length;
    if (type === "migrate") checkLetGo(entries, name, journeys, ledger, report);
    // Where runs are upgraded nobody has to ask for it, but for the way back.
    if (type === "migrate" && ledger.upgrades !== undefined) checkReturns(run, journeys, report);
    else if (times > asked) report(13, `${name} has ${times} entries of ${type}, and was asked for ${asked}`);
  }
  if (run.entries.length > entries.length) return;
  const wanted = ledger.forks.get(name);
  if (wanted === undefined ? fork !== undefined : fork?.run !== wanted.run)
    report(13, `${name} is a fork of ${fork?.run}, and should be of ${wanted?.run}`);
  if (wanted?.at !== undefined && fork?.seq !== wanted.at)
    report(13, `${name} was forked at ${fork?.seq}, and should be at ${wanted.at}`);
}

const leadsTo = ({ event }: ModelEntry): number | undefined =>
  isControl(event) && event.type === "migrate" ? (event.data as { readonly to: number }).to : undefined;

/** Runs go to the first version only where they were asked to. */
function checkReturns({ entries, head }: ModelRun, journeys: readonly Journey[], report: Report): void {
  const times = entries.filter((entry) => leadsTo(entry) === 1).length;
  const asked = journeys.filter(({ to }) => to === 1).length;
  if (times > asked)
    report(13, `${head.run} went back to version 1 ${times} times, and was asked to ${asked}`);
}

/** Deferred events are let go of on the way to another version only where somebody said so. */
function checkLetGo(
  entries: readonly ModelEntry[],
  name: string,
  journeys: readonly Journey[],
  { upgrades }: Ledger,
  report: Report,
): void {
  for (const entry of entries) {
    const to = leadsTo(entry);
    if (to === undefined || (entry.dropped ?? []).length === 0) continue;
    const isMeant = journeys.some((one) => one.to === to && one.drop) || (to > 1 && upgrades?.drop === true);
    if (!isMeant) report(15, `entry ${entry.seq} of ${name} lets go of events, and nobody said that it may`);
  }
}

/** A run that could go to the later version, now that every run was asked to. */
export function checkUpgraded({ state, head }: ModelRun, report: Report): void {
  const { later } = kindOf(state.machine) ?? {};
  if (later === undefined || head.status !== "active" || state.version === later.machine.version) return;
  const { migration, machine } = later;
  const options = { at: head.updatedAt, run: head.run, migration };
  if (evolve(machineOf(state), machine, state, options).outcome === "moved")
    report(15, `${head.run} can go to version ${machine.version}, and stays with ${state.version}`);
}

const show = (events: readonly Event[]): string =>
  JSON.stringify(events.map(({ type, data }) => [type, data]));
