/**
 * The judgement over a store whose processes were killed. A last process opens it and only waits: whatever was pending
 * must go on by itself. Then contexts and journals are held against the ledger.
 *
 * K1. Nothing acknowledged is lost. K2. Nothing is taken twice or out of order. K3. A tool's answer is applied once, and
 * not without a call. K4. A tool that may happen once was begun once at most. K5. No timer is early, missed or double.
 * K6. A child's result comes once. K7. Journals have no gaps and their chains hold. K8. Nothing pending is forgotten.
 * K9 to K13 and K15 are of changes (`judge-changes.ts`), K14 is of backups (`judge-backups.ts`).
 */
import { createRuntime, type Entry, type MachineEntry, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { RunHead } from "../../src/store/records.ts";
import type { Store } from "../../src/store/store.ts";
import { changingEntries, workshopLists } from "./changing.ts";
import { backupProblems } from "./judge-backups.ts";
import { activeVersion, changeProblems, type FoundRuns, findRuns } from "./judge-changes.ts";
import type { Ledger } from "./ledger.ts";
import { type Contexts, machineEntries, machines } from "./machines.ts";

export interface Judgement {
  readonly problems: readonly string[];
  readonly figures: { readonly [name: string]: number };
}

/** Only ends what hangs: everything pending takes milliseconds. */
const settleMsMax = 60_000;
const farAway = 8.64e15;

/** Opens the store as the next process would, waits until nothing is pending, and compares. */
export async function judge(path: string, ledger: Ledger, directory = backupsOf(path)): Promise<Judgement> {
  const hear = (line: string) => void ledger.read(line, Date.now());
  const observer = sqlite(path);
  await observer.open();
  const catalogVersion = await activeVersion(observer, "swap");
  const swapVersion = Math.max(ledger.chronicle.deploying, catalogVersion);
  const runtime = await createRuntime({
    store: sqlite(path),
    machines: allEntries(hear, swapVersion),
    onEmit: ({ event }) => hear(`${event.type} ${event.data}`),
  });
  try {
    const problems = [...ledger.problems];
    const pending = await settle(observer);
    if (pending.length > 0) problems.push(`K8: still waiting: ${pending.join(", ")}`);
    const { runs, heads, unreadable } = await findRuns(runtime, observer);
    problems.push(...unreadable);
    const contexts = await readContexts(runtime, runs);
    problems.push(...contextProblems(contexts, ledger), ...toolProblems(contexts, ledger));
    const figures = { entries: 0, timers: 0, children: 0 };
    for (const { head, entries } of runs.values()) {
      if (head.machine === "kid") {
        figures.children++;
        if (head.status !== "done") problems.push(`K6: the child ${head.run} is ${head.status}`);
      }
      figures.entries += entries.length;
      const journal = journalProblems(head, entries, ledger);
      figures.timers += journal.timers;
      problems.push(...journal.problems);
    }
    const { chronicle } = ledger;
    problems.push(...(await changeProblems({ runtime, observer, heads, runs, chronicle }, catalogVersion)));
    const machines = () => allEntries(() => {}, swapVersion);
    const copies = await backupProblems({ directory, chronicle, runs, machines, settle: settleAt });
    problems.push(...copies.problems);
    return {
      problems,
      figures: { ...figures, unknown: contexts.mail?.unknown.length ?? 0, ...changeFigures(ledger) },
    };
  } finally {
    await observer.close();
    await runtime.close();
  }
}

/** Where the backups of a store are. */
export const backupsOf = (path: string): string => `${path}-backups`;

/** Every machine there is, with tools that say what they do. */
export function allEntries(say: (line: string) => void, swapVersion: number): MachineEntry[] {
  return [...machineEntries(say), ...changingEntries({ say, wait: async () => {} }, swapVersion)];
}

function changeFigures({ chronicle }: Ledger): Record<string, number> {
  const { backs, forks, migrations, deployed, removed, pruned, copies } = chronicle;
  const isAcked = ({ acked }: { readonly acked: boolean }) => acked;
  return {
    rollbacks: backs.length,
    forks: [...forks.values()].filter(isAcked).length,
    migrations: migrations.length,
    deploys: deployed - 1,
    removals: removed.size,
    prunings: pruned.size,
    backups: [...copies.values()].filter(isAcked).length,
  };
}

/** The same, with an error on the way as one more problem: a store that cannot be opened is as bad as a wrong one. */
export async function judgeAny(path: string, ledger: Ledger): Promise<Judgement> {
  try {
    return await judge(path, ledger);
  } catch (error) {
    const problem = `the store cannot be opened and read: ${(error as Error).stack ?? error}`;
    return { problems: [...ledger.problems, problem], figures: {} };
  }
}

/** Waits until no run has anything to do, now or ever; whatever has after a long while. */
export async function settle(observer: Store): Promise<readonly string[]> {
  const until = Date.now() + settleMsMax;
  for (;;) {
    const due = (await observer.due(farAway, 100)).map(({ run }) => run);
    const busy = due.length > 0 ? due : await underWay(observer);
    if (busy.length === 0 || Date.now() > until) return busy;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export async function settleAt(path: string): Promise<readonly string[]> {
  const observer = sqlite(path);
  await observer.open();
  try {
    return await settle(observer);
  } finally {
    await observer.close();
  }
}

/** Runs with an activity that this very process is running: `due` tells only of those whose process is gone. */
async function underWay(observer: Store): Promise<string[]> {
  const names: string[] = [];
  for (const { run } of await observer.findRuns({ tenant: "default", status: "active", limit: 1_000 })) {
    const loaded = await observer.load({ tenant: "default", run });
    if ((loaded?.activities.length ?? 0) > 0) names.push(run);
  }
  return names;
}

async function readContexts(runtime: Runtime, runs: FoundRuns): Promise<Partial<Contexts>> {
  const contexts: Record<string, unknown> = {};
  for (const [run, { head }] of runs) {
    if (!(run in machines) && !["diary", "shift", "swap"].includes(run)) continue;
    const { context } = await (await runtime.run(run)).state();
    const isWorkshop = head.machine === "shift" || head.machine === "swap";
    contexts[run] = isWorkshop ? workshopLists(head.version, context) : context;
  }
  return contexts;
}

/** Where each acknowledged number must be found, and what must have come of it. */
const lists: readonly (readonly [
  run: keyof Contexts,
  event: string,
  ...lists: ((all: Contexts) => readonly number[])[],
])[] = [
  ["count", "add", ({ count }) => count.numbers],
  ["nap", "nap", ({ nap }) => nap.naps, ({ nap }) => nap.wakes],
  ["nap", "later", ({ nap }) => nap.laters],
  [
    "boss",
    "delegate",
    ({ boss }) => boss.asked,
    ({ boss }) => boss.begun,
    ({ boss }) => boss.results.map(({ n, twice }) => (twice === 2 * n ? n : Number.NaN)),
  ],
  ["ping", "serve", ({ ping }) => ping.served, ({ pong }) => pong.balls, ({ ping }) => ping.back],
  ["mail", "mail", ({ mail }) => mail.asked],
  ["diary", "note", ({ diary }) => diary.numbers],
  ["shift", "begin", ({ shift }) => shift.begun, ({ shift }) => shift.made, ({ shift }) => shift.rang],
  ["shift", "order", ({ shift }) => shift.orders],
  ["swap", "begin", ({ swap }) => swap.begun, ({ swap }) => swap.made, ({ swap }) => swap.rang],
  ["swap", "order", ({ swap }) => swap.orders],
];

function contextProblems(contexts: Partial<Contexts>, { acked }: Ledger): string[] {
  return lists.flatMap(([run, event, ...reads]) => {
    const told = acked.get(`${run} ${event}`) ?? new Set<number>();
    if (contexts[run] === undefined) return told.size > 0 ? [`K1: the whole run ${run} is lost`] : [];
    const found = reads.map((read) => read(contexts as Contexts));
    const taken = found[0] as readonly number[];
    const lost = [...told].filter((n) => n >= taken.length);
    return [
      ...(lost.length > 0 ? [`K1: ${run} lost ${event} ${lost.join(", ")}`] : []),
      ...found.flatMap((numbers, place) => {
        const wrong = numbers.findIndex((n, index) => n !== index);
        return wrong >= 0
          ? [`K2: list ${place} of ${run} ${event} has ${numbers[wrong]} where ${wrong} should be`]
          : [];
      }),
      ...(found.some(({ length }) => length !== taken.length)
        ? [
            `K2: ${run} ${event} was taken ${taken.length} times and led to ${found.map(({ length }) => length)}`,
          ]
        : []),
    ];
  });
}

function toolProblems({ count, mail }: Partial<Contexts>, { tools, posts, answered }: Ledger): string[] {
  const answers = count?.answers ?? [];
  const { asked = [], sent = [], unknown = [] } = mail ?? {};
  return [
    ...(new Set(answers).size < answers.length ? ["K3: a tool's answer was applied twice"] : []),
    ...answers
      .filter((key) => !tools.has(key))
      .map((key) => `K3: an answer of ${key}, which was never called`),
    ...[...answered.keys()]
      .filter((key) => !answers.includes(key))
      .map((key) => `K1: the answer of ${key} is lost`),
    ...[...posts]
      .filter(([, starts]) => starts > 1)
      .map(([key, starts]) => `K4: ${key} was begun ${starts} times`),
    ...sent
      .filter((key) => !posts.has(key))
      .map((key) => `K4: ${key} is told to be done and was never begun`),
    ...(new Set(sent).size + new Set(unknown).size !== asked.length ||
    asked.length !== sent.length + unknown.length
      ? [`K4: of ${asked.length} mails ${sent.length} were sent and ${unknown.length} are unknown`]
      : []),
  ];
}

/** What is wrong with a journal, and how many timers it has. */
export function journalProblems(
  { run, seq }: RunHead,
  entries: readonly Entry[],
  ledger: Ledger,
): { readonly problems: string[]; readonly timers: number } {
  const problems: string[] = [];
  const due = new Map<string, number>();
  const fired = new Set<string>();
  const cancelled = new Set<string>();
  const settled = new Set<string>();
  // A journal that was pruned begins later; where it may, another rule says.
  const first = entries[0]?.seq ?? 1;
  entries.forEach(({ seq: at }, index) => {
    if (at !== first + index)
      problems.push(`K7: the journal of ${run} has ${at} where ${first + index} should be`);
  });
  const last = entries.at(-1)?.seq ?? 0;
  if (last !== seq) problems.push(`K7: the journal of ${run} ends at ${last} of ${seq}`);
  for (const { at, event, outcome, effects } of entries) {
    for (const effect of effects) {
      if (effect.type === "timer") due.set(effect.key, effect.due);
      if (effect.type === "cancel" && effect.of === "timer") cancelled.add(effect.key);
    }
    if (event.timer !== undefined && outcome === "taken") {
      if (fired.has(event.timer)) problems.push(`K5: the timer ${event.timer} of ${run} fired twice`);
      fired.add(event.timer);
      if (at < (due.get(event.timer) ?? Number.POSITIVE_INFINITY))
        problems.push(`K5: the timer ${event.timer} of ${run} fired early`);
    }
    if (event.type.startsWith("done.invoke.") && outcome === "taken") {
      if (settled.has(event.invocation as string))
        problems.push(`K3: ${run} settled ${event.invocation} twice`);
      settled.add(event.invocation as string);
    }
  }
  for (const key of due.keys())
    if (!fired.has(key) && !cancelled.has(key)) problems.push(`K5: the timer ${key} of ${run} never fired`);
  if (run === "nap") {
    [...due.values()].forEach((time, n) => {
      if ((ledger.woke.get(n) ?? Number.POSITIVE_INFINITY) < time)
        problems.push(`K5: nap ${n} was heard to be over before it was`);
    });
  }
  return { problems, timers: due.size };
}
