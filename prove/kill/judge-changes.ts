/**
 * The judgement over changes: of what was acknowledged, all is there, and nothing is there by half.
 *
 * K9. A run that was taken back is where it was then, in the step that was told. K10. A fork begins with the state of its
 * source, and its source has not changed. K11. A run that was moved has, of all that was pending, each piece pending, taken
 * or told to be let go. K12. A version that was deployed is in the catalog, and no run stays behind. K13. What was removed
 * or pruned is gone with all its rows; what is held, alive or stood on by a fork is not. K15. `verify` finds nothing.
 */
import { isDeepStrictEqual } from "node:util";
import type { Entry, Event, Run, Runtime, State } from "holdfast";
import { readHolds, sweep, verify } from "holdfast/housekeeping";
import { systemTenant } from "../../src/runtime/name.ts";
import { decode } from "../../src/store/codec.ts";
import type { RunHead } from "../../src/store/records.ts";
import type { Store } from "../../src/store/store.ts";
import { editedStep, type Path } from "./changing.ts";
import type { Chronicle } from "./chronicle.ts";

const tenant = "default";
const manyRows = 1_000_000;

/** A run as it is found. */
export interface Found {
  readonly head: RunHead;
  /** What is left of its journal, and the digest of each checkpoint in it. */
  readonly entries: readonly Entry[];
  readonly digests: ReadonlyMap<number, string>;
}

export type FoundRuns = ReadonlyMap<string, Found>;

export interface ChangeScene {
  readonly runtime: Runtime;
  /** The same store, seen from beside the runtime. */
  readonly observer: Store;
  /** All that are there, and those of them that can be read. */
  readonly heads: readonly RunHead[];
  readonly runs: FoundRuns;
  readonly chronicle: Chronicle;
}

/** The newest version of a machine that the catalog has as active; before a runtime adds those it brings along. */
export async function activeVersion(store: Store, machine: string): Promise<number> {
  const document = await store.readDocument(systemTenant, "machines");
  const rows = document === undefined ? [] : (decode(document.bytes, "machines") as unknown as Row[]);
  return Math.max(
    1,
    ...rows.filter(({ id, status }) => id === machine && status === "active").map(({ version }) => version),
  );
}

interface Row {
  readonly id: string;
  readonly version: number;
  readonly status: string;
}

/** All runs of a store that can be read, with what is left of their journals; and what is wrong with the others. */
export async function findRuns(
  runtime: Runtime,
  observer: Store,
): Promise<{ readonly runs: FoundRuns; readonly heads: readonly RunHead[]; readonly unreadable: string[] }> {
  const runs = new Map<string, Found>();
  const unreadable: string[] = [];
  const heads = await observer.findRuns({ tenant, limit: manyRows });
  for (const head of heads) {
    const entries: Entry[] = [];
    try {
      const run = await runtime.run(head.run);
      await run.state();
      for await (const entry of run.journal()) entries.push(entry);
      runs.set(head.run, { head, entries, digests: await readDigests(observer, head.run) });
    } catch (error) {
      unreadable.push(`K7: the run ${head.run} cannot be read: ${(error as Error).message}`);
    }
  }
  return { runs, heads, unreadable };
}

/** The digest of each checkpoint of a run that is left. */
export async function readDigests(store: Store, run: string): Promise<ReadonlyMap<number, string>> {
  const rows = await store.readJournal({ tenant, run }, 1, manyRows);
  return new Map(rows.map(({ seq, digest }) => [seq, digest]));
}

export async function changeProblems(scene: ChangeScene, catalogVersion: number): Promise<string[]> {
  const { chronicle, observer } = scene;
  await sweep({ store: observer });
  const { problems } = await verify({ store: observer });
  const holds = await readHolds({ store: observer });
  const isHeld = (run: string) => holds.some((one) => "run" in one && one.run === run);
  return [
    ...chronicle.problems,
    ...scene.heads.flatMap((head) => originProblem(head, scene) ?? []),
    ...standProblems(scene),
    ...(await pathProblems(scene)),
    ...(await migrationProblems(scene)),
    ...deployProblems(scene, catalogVersion),
    ...removalProblems(scene),
    ...[...chronicle.held].filter((run) => !isHeld(run)).map((run) => `K13: the hold on ${run} is lost`),
    ...problems.map(
      ({ kind, run, seq, problem }) => `K15: ${kind} of ${run ?? "nobody"} at ${seq ?? "-"}: ${problem}`,
    ),
  ];
}

/** What was once told of a checkpoint holds, whoever travelled from there since. */
function standProblems({ runs, chronicle }: ChangeScene): string[] {
  const problems: string[] = [];
  const { stands, sent, removed, isPruning } = chronicle;
  for (const [run, digests] of stands) {
    const found = runs.get(run);
    if (found === undefined) {
      if (!removed.has(run) && !chronicle.mayBeGone(run)) problems.push(`K1: the whole run ${run} is lost`);
      continue;
    }
    const newest = Math.max(...digests.keys());
    if (found.head.seq < newest) problems.push(`K1: ${run} was at ${newest} and is at ${found.head.seq}`);
    for (const [seq, digest] of digests)
      if ((found.digests.get(seq) ?? digest) !== digest)
        problems.push(`K10: ${run} has another step ${seq} than it had`);
  }
  for (const [run, events] of sent) {
    const found = runs.get(run);
    if (found === undefined) continue;
    const pruned = (found.entries[0]?.seq ?? 1) > 1;
    if (pruned && isPruning && run === "diary") continue;
    const taken = new Set(found.entries.map(({ event }) => eventName(event)));
    for (const event of events) if (!taken.has(event)) problems.push(`K1: no entry of ${run} has ${event}`);
  }
  return problems;
}

/** An event by what its sender called it: workshops of even versions call an order a demand. */
export function eventName({ type, data }: Event): string {
  const n = typeof data === "object" && data !== null && "n" in data ? data.n : data;
  return `${type === "demand" ? "order" : type} ${n}`;
}

/** What a path should have come to, entry by entry, worked out from what it was sent. */
type Walked = Readonly<Path>;

function walkedOf(entries: readonly Entry[], base: Walked | undefined): Walked[] {
  const all: Walked[] = [];
  for (const { event, outcome } of entries) {
    const last = all.at(-1) ?? { steps: [], answers: [], rings: 0 };
    const { type, data } = event;
    if (type === "fork") all.push(base as Walked);
    else if (type === "rollback") all.push(all[(data as { to: number }).to - 1] as Walked);
    else if (outcome !== "taken") all.push(last);
    else if (type === "walk") all.push({ ...last, steps: [...last.steps, data as number] });
    else if (event.timer !== undefined) all.push({ ...last, rings: last.rings + 1 });
    else if (type.startsWith("done.invoke."))
      all.push({ ...last, answers: [...last.answers, data as string] });
    else all.push(last);
  }
  return all;
}

async function pathProblems({ runtime, runs, chronicle }: ChangeScene): Promise<string[]> {
  const problems: string[] = [];
  const walked = new Map<string, Walked[]>();
  const walkedBy = (run: string): Walked[] | undefined => {
    const found = runs.get(run);
    const known = walked.get(run);
    if (found === undefined || known !== undefined) return known;
    const all = walkedOf(found.entries, baseOf(found.head));
    walked.set(run, all);
    return all;
  };
  const baseOf = ({ run, fork }: RunHead): Walked | undefined => {
    const base = fork && walkedBy(fork.run)?.[fork.seq - 1];
    const isEdited = chronicle.forks.get(run)?.edited === true;
    return base && isEdited ? { ...base, steps: [...base.steps, editedStep] } : base;
  };
  for (const [run, { head, entries }] of runs) {
    if (head.machine !== "path") continue;
    const { event } = entries[0] as Entry;
    const { fork } = head;
    const begins = fork === undefined ? ["start", undefined] : ["fork", { run: fork.run, seq: fork.seq }];
    if (!isDeepStrictEqual([event.type, event.data], begins))
      problems.push(`K10: ${run} begins with ${event.type}`);
    else problems.push(...(await stateProblems(await runtime.run(run), entries, walkedBy(run) as Walked[])));
  }
  for (const { run, to, seq } of chronicle.backs) {
    const event = runs.get(run)?.entries[seq - 1]?.event;
    if (runs.has(run) && !isDeepStrictEqual([event?.type, event?.data], ["rollback", { to }]))
      problems.push(`K9: ${run} was told to have gone back to ${to} at ${seq}, and there is ${event?.type}`);
  }
  return problems;
}

/** What is wrong with where a path comes from. */
function originProblem(
  { machine, run, fork }: RunHead,
  { heads, chronicle }: Pick<ChangeScene, "heads" | "chronicle">,
): string | undefined {
  if (machine !== "path") return undefined;
  if (run === "path") return fork === undefined ? undefined : `K10: ${run} became a fork`;
  const forking = chronicle.forks.get(run);
  if (forking === undefined) return `K10: nobody forked ${run}`;
  const { source, seq } = forking;
  if (fork?.run !== source || fork.seq !== seq)
    return `K10: ${run} was forked from ${source} at ${seq} and is told to be from ${fork?.run} at ${fork?.seq}`;
  const isThere = heads.some((head) => head.run === source);
  return isThere ? undefined : `K13: ${source} is gone, and the fork ${run} stands on it`;
}

/** Where a path is now, where it began and wherever it went back to, its state is what it should be. */
async function stateProblems(
  run: Run,
  entries: readonly Entry[],
  walked: readonly Walked[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, { seq, event }] of entries.entries()) {
    if (event.type !== "rollback" && index > 0 && index < entries.length - 1) continue;
    const { context } = await run.at(seq);
    const rule = event.type === "fork" ? "K10" : "K9";
    if (!isDeepStrictEqual(context, walked[index]))
      problems.push(
        `${rule}: ${run.id} at ${seq}, on ${event.type}, has ${JSON.stringify(context)} for ${JSON.stringify(walked[index])}`,
      );
  }
  return problems;
}

async function migrationProblems({ runtime, runs, chronicle }: ChangeScene): Promise<string[]> {
  const problems: string[] = [];
  for (const { run, to, after } of chronicle.migrations) {
    const isThere = runs.get(run)?.entries.some(({ seq, event }) => seq > after && isMoveTo(event, to));
    if (isThere === false)
      problems.push(`K11: ${run} was told to be at version ${to} after ${after}, and never was`);
  }
  for (const [id, { head, entries }] of runs) {
    if (head.machine !== "shift" && head.machine !== "swap") continue;
    const run = await runtime.run(id);
    const letGo = new Set(entries.flatMap(({ dropped = [] }) => dropped.map(eventName)));
    for (const entry of entries) {
      if (entry.event.type !== "migrate") continue;
      const lost = lostBetween(await run.at(entry.seq - 1), await run.at(entry.seq), entry);
      if (lost.length > 0) problems.push(`K11: ${id} lost ${lost.join(", ")} on its way at ${entry.seq}`);
    }
    problems.push(...hintProblems(id, entries, await run.state(), letGo));
  }
  return problems;
}

const isMoveTo = ({ type, data }: Event, version: number): boolean =>
  type === "migrate" && (data as { to?: number }).to === version;

/** What was pending before a move and is neither pending after it nor told of. */
function lostBetween(before: State, after: State, { event, dropped = [] }: Entry): string[] {
  const told = new Set(
    [...listIn(event, "dropped"), ...listIn(event, "ended")].flatMap(({ key }) =>
      key === undefined ? [] : [key],
    ),
  );
  const keysOf = ({ timers, activities }: State) => [...timers, ...activities].map(({ key }) => key);
  const keys = new Set(keysOf(after));
  // Each event by itself: of two that are alike, both must be there.
  const left = [...after.deferred, ...dropped].map(eventName);
  const events = before.deferred.map(eventName).filter((name) => {
    const place = left.indexOf(name);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return [...keysOf(before).filter((key) => !keys.has(key) && !told.has(key)), ...events];
}

function listIn({ data }: Event, name: string): readonly { readonly key?: string }[] {
  return ((data as Record<string, unknown>)[name] ?? []) as readonly { key?: string }[];
}

/** A hint is taken, or it is let go and the journal says so. */
function hintProblems(
  run: string,
  entries: readonly Entry[],
  state: State,
  letGo: ReadonlySet<string>,
): string[] {
  const hints = (state.context as unknown as { hints: number[] }).hints.map((n) => `hint ${n}`);
  const sent = entries.map(({ event }) => eventName(event)).filter((name) => name.startsWith("hint "));
  return [
    ...sent
      .filter((name) => hints.includes(name) === letGo.has(name))
      .map((name) => `K11: ${run} ${letGo.has(name) ? "took and let go of" : "lost"} ${name}`),
    ...(new Set(hints).size < hints.length ? [`K2: ${run} took a hint twice`] : []),
  ];
}

function deployProblems({ runs, chronicle: { deployed } }: ChangeScene, catalogVersion: number): string[] {
  const swap = runs.get("swap");
  return [
    ...(catalogVersion < deployed
      ? [`K12: version ${deployed} was deployed, and the catalog has ${catalogVersion}`]
      : []),
    ...(swap !== undefined && swap.head.version < deployed
      ? [`K12: version ${deployed} was deployed, and swap is at ${swap.head.version}`]
      : []),
  ];
}

function removalProblems({ runs, chronicle }: ChangeScene): string[] {
  const problems: string[] = [];
  for (const run of chronicle.removed)
    if (runs.has(run)) problems.push(`K13: ${run} was removed and is there`);
  for (const [run, { acked }] of chronicle.forks) {
    if (!acked || runs.has(run) || chronicle.removed.has(run)) continue;
    if (!chronicle.mayBeGone(run))
      problems.push(`K13: the fork ${run} is gone, and nobody may have removed it`);
  }
  for (const [run, { entries }] of runs) {
    const pruned = (entries[0] as Entry).seq - 1;
    const least = chronicle.pruned.get(run) ?? 0;
    if (pruned < least)
      problems.push(`K13: ${run} was pruned up to ${least}, and only up to ${pruned} it is gone`);
    if (pruned > 0 && !(run === "diary" && chronicle.isPruning))
      problems.push(`K13: ${run} was pruned up to ${pruned}`);
  }
  return problems;
}
