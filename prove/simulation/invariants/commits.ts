/** Commits: what the store must answer to one, and what must be in it (invariants 2, 3, 4, 7 and 19). */
import type { Event, Json, SendEffect, State } from "holdfast";
import { priorityOf } from "../../../src/core/chart.ts";
import { descriptorMatches, settles } from "../../../src/core/event.ts";
import { isControl, returnOf } from "../../../src/runtime/control.ts";
import { decode } from "../../../src/store/codec.ts";
import { unpack } from "../../../src/store/content.ts";
import type { InboxRow } from "../../../src/store/records.ts";
import type { Commit, CommitOutcome } from "../../../src/store/store.ts";
import { digestOf, eventOf, hasEnded, type Model, type ModelEntry, type ModelRun } from "../model.ts";
import { checkHolding } from "./holding.ts";
import { checkParking } from "./parking.ts";
import type { Invariant, Report } from "./report.ts";
import { isSame } from "./same.ts";
import { checkTravel } from "./travel.ts";

/** The answer that the port demands, as far as the judge cares. */
export function demanded(model: Model, commit: Commit): CommitOutcome["outcome"] {
  if (!model.isGood(commit.epoch)) return "fenced";
  const run = model.before(commit);
  const begins = (start: Commit): boolean =>
    model.find(start.head) === undefined && start.starts.every(begins);
  if (run.head.seq !== commit.expect || !commit.starts.every(begins)) return "conflict";
  // What a new fork is to stand on must be there.
  const { fork } = commit.head;
  const source = fork && model.find(fork);
  if (commit.expect === 0 && fork && (source === undefined || fork.seq < source.pruned)) return "conflict";
  if (!commit.consumed.every(({ id }) => run.inbox.has(id))) return "conflict";
  return commit.keys.some(({ key }) => run.keys.has(key)) ? "duplicate" : "committed";
}

const brokenBy: Readonly<Record<CommitOutcome["outcome"], Invariant>> = {
  fenced: 7,
  conflict: 2,
  duplicate: 1,
  committed: 8,
};

export function checkOutcome(model: Model, commit: Commit, { outcome }: CommitOutcome, report: Report): void {
  const wanted = demanded(model, commit);
  if (wanted !== outcome)
    report(brokenBy[wanted], `a commit of ${commit.head.run} should be ${wanted} and was ${outcome}`);
}

/** Everything about a commit that was accepted, before it is entered in the books. */
export function checkCommit(
  model: Model,
  commit: Commit,
  entries: readonly ModelEntry[],
  report: Report,
): void {
  const run = model.before(commit);
  checkChain(run, commit, report);
  checkSteps(model, commit, entries, report);
  checkConsumed(run, commit, entries, report);
  checkSends(run, commit, entries, report);
  checkOrder(run, entries, report);
  checkParking(run, entries, report);
  checkTravel(run, commit, entries, report);
  checkHolding(run, commit, entries, report);
  for (const child of commit.starts) checkCommit(model, child, model.read(child), report);
}

function checkChain(run: ModelRun, commit: Commit, report: Report): void {
  let { seq, digest } = run.head;
  for (const row of commit.entries) {
    if (row.seq !== seq + 1) report(2, `${commit.head.run} goes from checkpoint ${seq} to ${row.seq}`);
    if (row.digest !== digestOf(digest, row))
      report(19, `entry ${row.seq} of ${commit.head.run} is not chained`);
    ({ seq, digest } = row);
  }
}

function checkSteps(model: Model, commit: Commit, entries: readonly ModelEntry[], report: Report): void {
  let before: State | undefined = model.before(commit).state;
  for (const entry of entries) {
    const { stepped, folded, seq } = entry;
    const what = `entry ${seq} of ${commit.head.run} (${entry.event.type})`;
    if (entry.outcome !== stepped.outcome)
      report(3, `${what} says ${entry.outcome}, and stepping ${stepped.outcome}`);
    if (!isSame(entry.effects, stepped.effects)) report(4, `${what} does not have the effects of its step`);
    if (!isSame(folded, stepped.state)) report(3, `${what} leads to another state than its step`);
    if (before !== undefined && before.status !== "active") report(1, `${what} is of a run that has ended`);
    before = stepped.state;
  }
  const { snapshot } = commit;
  if (snapshot === undefined) return;
  const at = entries.find(({ seq }) => seq === snapshot.seq);
  const { state } = decode(snapshot.bytes, "a snapshot") as { state: Json };
  if (!isSame(unpack(state, model.contents, "a snapshot"), at?.stepped.state))
    report(3, `the snapshot ${snapshot.seq} of ${commit.head.run} is wrong`);
}

/** Each event that was consumed is the event of a step of this commit, and none from another run comes out of nowhere. */
function checkConsumed(run: ModelRun, commit: Commit, entries: readonly ModelEntry[], report: Report): void {
  const open = [...entries];
  if (new Set(commit.consumed.map(({ id }) => id)).size < commit.consumed.length)
    report(2, `${commit.head.run} consumes one event twice`);
  for (const { id, seq } of commit.consumed) {
    const event = run.inbox.get(id)?.event;
    const place = open.findIndex((entry) => entry.seq === seq && isSame(entry.event, event));
    if (place < 0) report(1, `event ${id} (${event?.type}) of ${commit.head.run} is consumed without a step`);
    else open.splice(place, 1);
  }
  for (const { event, seq } of open)
    if (isFromRun(run, event))
      report(2, `entry ${seq} of ${commit.head.run} takes an event that did not wait`);
}

function isFromRun({ state }: ModelRun, event: Event): boolean {
  const ofChild = settles(event) && state?.children.some(({ key }) => key === event.invocation);
  return event.origin !== undefined || ofChild === true;
}

interface Expected {
  readonly run: string;
  readonly event: Pick<Event, "type" | "data">;
}

/** What the steps ask to be sent is what the commit sends; what they start is what begins with it. */
function checkSends(run: ModelRun, commit: Commit, entries: readonly ModelEntry[], report: Report): void {
  const { head } = commit;
  const expected: Expected[] = [];
  const children: string[] = [];
  let before: State | undefined = run.state;
  for (const { event, effects, stepped } of entries) {
    const again = returnOf(event)?.result;
    if (again !== undefined)
      expected.push({ run: head.run, event: { type: again.type, data: again.data as Json } });
    for (const effect of effects) {
      if (effect.type === "send") expected.push(...sendOf(effect, commit, before, stepped.state));
      if (effect.type === "spawn") children.push(`${head.run}/${effect.key}`);
      if (effect.type === "cancel" && effect.of === "child")
        expected.push({ run: `${head.run}/${effect.key}`, event: { type: "cancel" } });
    }
    const { status, output } = stepped.state;
    if (head.parent !== undefined && (before?.status ?? "active") === "active" && status === "done") {
      const type = `done.invoke.${head.parent.id}`;
      expected.push({
        run: head.parent.run,
        event: output === undefined ? { type } : { type, data: output },
      });
    }
    before = stepped.state;
  }
  // What users sent to a run that is parked with this commit is put aside with it.
  const isAside = (row: InboxRow) =>
    head.status === "parked" && row.run === head.run && eventOf(row).origin === undefined;
  const sent = commit.sends
    .filter((row) => !isAside(row))
    .map((row): Expected => {
      const { type, data } = eventOf(row);
      return { run: row.run, event: data === undefined ? { type } : { type, data } };
    });
  if (!isSame(sent.map(asText).sort(), expected.map(asText).sort()))
    report(4, `${head.run} sends ${sent.map(asText)} where its steps ask for ${expected.map(asText)}`);
  if (!isSame(commit.starts.map((start) => start.head.run).sort(), children.sort()))
    report(4, `${head.run} does not begin the children its steps ask for`);
}

function sendOf(
  { to, event: { type, data } }: SendEffect,
  { head }: Commit,
  before: State | undefined,
  after: State,
): Expected[] {
  const event = data === undefined ? { type } : { type, data };
  if (to === "self") return [{ run: head.run, event }];
  if (to === "parent") return head.parent === undefined ? [] : [{ run: head.parent.run, event }];
  if ("run" in to) return [{ run: to.run, event }];
  if (!("child" in to)) return [];
  const child = [...(before?.children ?? []), ...after.children].findLast(({ id }) => id === to.child);
  return child === undefined ? [] : [{ run: `${head.run}/${child.key}`, event }];
}

/** What one turn takes was all there when it began, so the most urgent comes first. */
function checkOrder({ machine, head }: ModelRun, entries: readonly ModelEntry[], report: Report): void {
  const { chart } = machine;
  if (chart.priorities.length === 0) return;
  const urgency = ({ event }: ModelEntry): number =>
    priorityOf(chart, event.type, (descriptor, type) => descriptorMatches(descriptor, type, chart.matching));
  // Control goes before all.
  const taken = entries.filter(({ event }) => !isControl(event) && event.origin === undefined);
  for (let place = 1; place < taken.length; place++) {
    const [one, other] = [taken[place - 1] as ModelEntry, taken[place] as ModelEntry];
    if (urgency(one) < urgency(other))
      report(2, `${head.run} takes ${one.event.type} before the more urgent ${other.event.type}`);
  }
}

/** What belongs to a state and is kept beside it, once the commit is in the books. */
export function checkBeside(model: Model, commit: Commit, report: Report): void {
  const { state, activities, head, refused, parked } = model.find(commit.head) as ModelRun;
  const status = state.status === "active" && parked ? "parked" : state.status;
  if (head.status !== status) report(4, `${head.run} is ${head.status} and should be ${status}`);
  const times = state.timers.map(({ due }) => due);
  if (head.limits?.time !== undefined && !hasEnded(head)) times.push(head.createdAt + head.limits.time);
  const wakeAt = times.length === 0 ? undefined : Math.min(...times);
  if (head.wakeAt !== wakeAt) report(4, `${head.run} wakes at ${head.wakeAt}, its timers at ${wakeAt}`);
  // A result that was refused is in the journal: nobody has to run the activity again.
  const pending = state.activities
    .map(({ key }) => key)
    .filter((key) => !refused.has(key))
    .sort();
  const kept = [...activities.keys()].sort();
  if (!isSame(pending, kept)) report(4, `${head.run} waits for ${pending}, and the store has ${kept}`);
  for (const { key } of state.children)
    if (model.find({ run: `${head.run}/${key}` }) === undefined)
      report(4, `a child of ${head.run} is missing`);
  if (hasEnded(head) && state.children.length > 0) report(4, `${head.run} ended and has children`);
}

const asText = (value: unknown): string => JSON.stringify(value);
