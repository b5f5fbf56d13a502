/** Events, timers, deferral and tokens: what each step means for those who sent it (invariants 1, 2, 6, 9 and 16). */
import type { Event, State } from "holdfast";
import { settles } from "../../../src/core/event.ts";
import type { Reconciled } from "../../../src/runtime/activity/attempts.ts";
import type { Ledger, Sent } from "../ledger.ts";
import { type AccountContext, firstBalance } from "../machines/account.ts";
import type { DeskContext } from "../machines/desk.ts";
import { goesBack, type Model, type ModelEntry, type ModelRun, nameOf } from "../model.ts";
import { checkMoved, checkTold } from "./outages.ts";
import { wasRefused } from "./parking.ts";
import type { Report } from "./report.ts";
import { isSame } from "./same.ts";
import { checkSpent } from "./spending.ts";
import { checkSaidAll } from "./streams.ts";
import { lineOf } from "./travel.ts";
import { checkTrip, checkUndone, undoingName } from "./undoing.ts";

/** How often whoever can be asked is asked before that is given up. */
const reconcileTries = 10;

const numberOf = ({ event }: ModelEntry): number | undefined => (event.data as { n?: number } | undefined)?.n;

/** The entries in which a run took what a user sent. */
export function entriesOf(
  run: ModelRun | undefined,
  sent: Pick<Sent, "type" | "data">,
): readonly ModelEntry[] {
  return run?.outside.get(nameOf(sent)) ?? [];
}

/** Whether an event is taken, waits, or is a dead letter, be it one that was given up. */
export function isKept(model: Model, sent: Sent): boolean {
  const found = model.find(sent);
  if (found === undefined) return false;
  if (entriesOf(found, sent).length > 0) return true;
  const name = nameOf(sent);
  const isIt = ({ event }: { readonly event: Event }) => nameOf(event) === name;
  return [...found.inbox.values(), ...model.deadLetters.values(), ...model.discarded].some(isIt);
}

/** Of what was sent together all is kept, or nothing; the end of the run may cut it short. */
export function checkBatch(model: Model, batch: readonly Sent[], report: Report): void {
  const [first] = batch as [Sent];
  const run = model.find(first);
  if (run === undefined || run.state.status !== "active") return;
  const kept = batch.filter((sent) => isKept(model, sent));
  if (kept.length > 0 && kept.length < batch.length)
    report(22, `${kept.length} of ${batch.length} events that were sent to ${first.run} together are kept`);
}

/** Each step on its own; `run` has all steps up to it, and those that were committed with it. */
export function checkEntry(
  run: ModelRun,
  entry: ModelEntry,
  before: State | undefined,
  world: {
    readonly ledger: Ledger;
    readonly model: Model;
    readonly furthest: number;
    readonly jumped: boolean;
    readonly report: Report;
  },
): void {
  const { report, furthest, model } = world;
  const what = `entry ${entry.seq} of ${run.head.run} (${entry.event.type})`;
  if (entry.at > furthest) report(9, `${what} is of a time that has not come`);
  const taken = entriesOf(run, entry.event as Sent);
  if (taken.length > 1 && taken.includes(entry)) report(2, `${what} was taken before`);
  if (before === undefined) return;
  checkTold(model, run, entry, what, report);
  if (entry.event.timer !== undefined) {
    checkTimer(entry, before, what, report);
    checkMoved(run, entry, before, what, world);
  }
  if (entry.event.invocation !== undefined) checkPending(entry, before, what, report);
  if (settles(entry.event) && !wasRefused(run, entry)) checkSettled(run, entry, before, world);
  if (run.machine.id === "desk") checkDesk(run, report);
  if (run.machine.id === "trip") checkTrip(run, entry, what, report);
  if (run.machine.id === undoingName) checkUndone(run, entry, what, report);
  if (run.machine.id === "alarm-clock" && entry.event.type === "ring") checkAlarm(run, entry, what, report);
}

function checkTimer(entry: ModelEntry, before: State, what: string, report: Report): void {
  const { event, at, outcome, stepped } = entry;
  const timer = before.timers.find(({ key }) => key === event.timer);
  if (timer === undefined) {
    const isIdle = outcome === "ignored" || outcome === "refused";
    if (!isIdle || entry.patches.length > 0) report(9, `${what} fires a timer that is not set`);
    return;
  }
  const isEarly = at < timer.due;
  if (isEarly && outcome !== "refused") report(9, `${what} fires at ${at} what is due at ${timer.due}`);
  if (!isEarly && stepped.state.timers.some(({ key }) => key === timer.key))
    report(9, `${what} fires a timer that stays set`);
}

/** What an invocation says is only heard while that is pending. */
function checkPending({ event, outcome }: ModelEntry, before: State, what: string, report: Report): void {
  const isPending = ({ key }: { readonly key: string }) => key === event.invocation;
  if (outcome !== "taken" || before.activities.some(isPending) || before.children.some(isPending)) return;
  report(6, `${what} comes from ${event.invocation}, which is not pending`);
}

/** An activity's result is one that its tool gave, in an attempt that was not given up. */
function checkSettled(
  run: ModelRun,
  entry: ModelEntry,
  before: State,
  { ledger, report }: { readonly ledger: Ledger; readonly report: Report },
): void {
  const { event } = entry;
  const invocation = event.invocation as string;
  const key = `${run.head.run}:${invocation}`;
  const isPending = ({ key }: { readonly key: string }) => key === event.invocation;
  if (!before.activities.some(isPending)) return;
  checkSpent(entry, key, ledger, report);
  const audits = ledger.audits.get(key) ?? [];
  const found = audits.filter((one) => one !== undefined);
  if (event.type.startsWith("unknown.") && before.activities.find(isPending)?.activity === "charge")
    checkUnknown(audits, key, report);
  if (!event.type.startsWith("done.")) return;
  const isIt = (one: Reconciled) =>
    one.outcome === "done" && one.output !== undefined && isSame(one.output, event.data);
  const starts = ledger.starts.get(key) ?? [];
  const start = starts.findIndex(({ answer }) => answer !== undefined && isSame(answer, event.data));
  const given = starts[start];
  if (given !== undefined)
    checkSaidAll(run.said.get(invocation) ?? [], key, { start, pieces: given.pieces }, report);
  else if (!found.some(isIt)) report(6, `the answer ${JSON.stringify(event.data)} of ${key} was never given`);
}

/** Whoever can be asked must have been asked, and not have known: once, or not have answered many times. */
function checkUnknown(audits: readonly (Reconciled | undefined)[], key: string, report: Report): void {
  const asked = audits.filter((one) => one === undefined).length;
  if (asked < reconcileTries && !audits.some((one) => one?.outcome === "unknown"))
    report(6, `${key} is unknown, and nobody who was asked said so`);
}

/** Whatever a desk accepted is taken up or deferred, each type in the order of its coming. */
function checkDesk(run: ModelRun, report: Report): void {
  if (run.state.status !== "active") return;
  const { taken } = run.state.context as unknown as DeskContext;
  const line = lineOf(run);
  // What a later version has no use for was let go of, and its entry says so.
  const dropped = line.filter((one) => !goesBack(one)).flatMap((one) => one.dropped ?? []);
  for (const type of ["job", "rush"] as const) {
    const accepted = line
      .filter(({ event, outcome }) => event.type === type && (outcome === "taken" || outcome === "deferred"))
      .filter(({ event }) => !dropped.some((one) => isSame(one, event)))
      .map(numberOf);
    const deferred = run.state.deferred.filter((event) => event.type === type);
    const kept = [...taken[type], ...deferred.map(({ data }) => (data as { n: number }).n)];
    if (!isSame(accepted, kept)) report(1, `${run.head.run} accepted ${type} ${accepted} and has ${kept}`);
  }
}

/** An alarm that was taken back after it was set does not ring. */
function checkAlarm(run: ModelRun, entry: ModelEntry, what: string, report: Report): void {
  if (entry.outcome !== "taken") return;
  const n = numberOf(entry);
  const earlier = lineOf(run, entry.seq - 1).filter(({ outcome }) => outcome === "taken");
  const set = earlier.findLast((one) => one.event.type === "set" && numberOf(one) === n);
  const unset = earlier.findLast(
    ({ event }) => event.type === "unset" && (event.data as { of: number }).of === n,
  );
  const rang = earlier.some((one) => one.event.type === "ring" && numberOf(one) === n);
  if (set === undefined) report(9, `${what} rings what was never set`);
  if (set !== undefined && unset !== undefined && unset.seq > set.seq)
    report(9, `${what} rings what was taken back`);
  const { at, event } = set ?? entry;
  if (entry.at < at + ((event.data as { delayMs?: number }).delayMs ?? 0)) report(9, `${what} rings early`);
  if (rang) report(9, `${what} rings what has rung`);
}

/** The tokens of all accounts, and those on their way between them. */
export function checkTokens(model: Model, report: Report): void {
  const accounts = [...model.runs.values()].filter(({ machine }) => machine.id === "account");
  let sum = 0;
  for (const { state, inbox } of accounts) {
    const { balance, pending } = state.context as unknown as AccountContext;
    sum += balance;
    for (const amount of Object.values(pending)) sum += amount;
    for (const { event } of inbox.values()) sum += depositOf(event);
    for (const { event, to } of state.timers) if (to !== undefined) sum += depositOf(event);
  }
  // One that was sent again is still there until it is known to have arrived.
  for (const { row, event } of model.deadLetters.values())
    if (!model.hasArrived(row)) sum += depositOf(event);
  const wanted = accounts.length * firstBalance;
  if (sum !== wanted) report(16, `there are ${sum} tokens, and should be ${wanted}`);
}

function depositOf({ type, data }: { readonly type: string; readonly data?: unknown }): number {
  return type === "deposit" ? (data as { amount: number }).amount : 0;
}
