/**
 * The judgement over a store whose processes were killed. A last process opens it and only waits: whatever was pending
 * must go on by itself. Then contexts and journals are held against the ledger.
 *
 * K1. Nothing acknowledged is lost. K2. Nothing is taken twice or out of order. K3. A tool's answer is applied once, and
 * not without a call. K4. A tool that may happen once was begun once at most. K5. No timer is early, missed or double.
 * K6. A child's result comes once. K7. Journals have no gaps and their chains hold. K8. Nothing pending is forgotten.
 */
import { createRuntime, type Entry, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { RunHead } from "../../src/store/records.ts";
import type { Store } from "../../src/store/store.ts";
import type { Ledger } from "./ledger.ts";
import { type Contexts, machineEntries, machines, type RunId } from "./machines.ts";

export interface Judgement {
  readonly problems: readonly string[];
  readonly figures: { readonly [name: string]: number };
}

/** Only ends what hangs: everything pending takes milliseconds. */
const settleMsMax = 60_000;
const farAway = 8.64e15;

/** Opens the store as the next process would, waits until nothing is pending, and compares. */
export async function judge(path: string, ledger: Ledger): Promise<Judgement> {
  const hear = (line: string) => void ledger.read(line, Date.now());
  const runtime = await createRuntime({
    store: sqlite(path),
    machines: machineEntries(hear),
    onEmit: ({ event }) => hear(`${event.type} ${event.data}`),
  });
  const observer = sqlite(path);
  try {
    await observer.open();
    const problems = [...ledger.problems];
    const pending = await settle(observer);
    if (pending.length > 0) problems.push(`K8: still waiting: ${pending.join(", ")}`);
    const heads = await allRuns(observer);
    const contexts = await readContexts(runtime, heads);
    problems.push(...contextProblems(contexts, ledger), ...toolProblems(contexts, ledger));
    const figures = { entries: 0, timers: 0, children: 0 };
    for (const head of heads) {
      if (head.machine === "kid") {
        figures.children++;
        if (head.status !== "done") problems.push(`K6: the child ${head.run} is ${head.status}`);
      }
      const entries: Entry[] = [];
      for await (const entry of (await runtime.run(head.run)).journal()) entries.push(entry);
      figures.entries += entries.length;
      const journal = journalProblems(head, entries, ledger);
      figures.timers += journal.timers;
      problems.push(...journal.problems);
    }
    return { problems, figures: { ...figures, unknown: contexts.mail?.unknown.length ?? 0 } };
  } finally {
    await observer.close();
    await runtime.close();
  }
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
async function settle(observer: Store): Promise<readonly string[]> {
  const until = Date.now() + settleMsMax;
  for (;;) {
    const due = (await observer.due(farAway, 100)).map(({ run }) => run);
    const busy = due.length > 0 ? due : await underWay(observer);
    if (busy.length === 0 || Date.now() > until) return busy;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Runs with an activity that this very process is running: `due` tells only of those whose process is gone. */
async function underWay(observer: Store): Promise<string[]> {
  const names: string[] = [];
  for (const id of Object.keys(machines)) {
    const loaded = await observer.load({ tenant: "default", run: id });
    if ((loaded?.activities.length ?? 0) > 0) names.push(id);
  }
  return names;
}

async function allRuns(observer: Store): Promise<RunHead[]> {
  return [...(await observer.findRuns({ tenant: "default", limit: 1_000_000 }))];
}

async function readContexts(runtime: Runtime, heads: readonly RunHead[]): Promise<Partial<Contexts>> {
  const contexts: Record<string, unknown> = {};
  for (const { run } of heads)
    if (run in machines) contexts[run] = (await (await runtime.run(run)).state()).context;
  return contexts;
}

/** Where each acknowledged number must be found, and what must have come of it. */
const lists: readonly (readonly [
  run: RunId,
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
    ...[...answered].filter((key) => !answers.includes(key)).map((key) => `K1: the answer of ${key} is lost`),
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

function journalProblems(
  { run, seq }: RunHead,
  entries: readonly Entry[],
  ledger: Ledger,
): { readonly problems: string[]; readonly timers: number } {
  const problems: string[] = [];
  const due = new Map<string, number>();
  const fired = new Set<string>();
  const settled = new Set<string>();
  entries.forEach(({ seq: at }, index) => {
    if (at !== index + 1) problems.push(`K7: the journal of ${run} has ${at} where ${index + 1} should be`);
  });
  if (entries.length !== seq) problems.push(`K7: the journal of ${run} ends at ${entries.length} of ${seq}`);
  for (const { at, event, outcome, effects } of entries) {
    for (const effect of effects) if (effect.type === "timer") due.set(effect.key, effect.due);
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
    if (!fired.has(key)) problems.push(`K5: the timer ${key} of ${run} never fired`);
  if (run === "nap") {
    [...due.values()].forEach((time, n) => {
      if ((ledger.woke.get(n) ?? Number.POSITIVE_INFINITY) < time)
        problems.push(`K5: nap ${n} was heard to be over before it was`);
    });
  }
  return { problems, timers: due.size };
}
