/**
 * The judgement over a store whose servers were killed. A last runtime opens it and only waits; then contexts and journals
 * are held against the ledger.
 *
 * F1. Nothing acknowledged is lost. F2. Nothing is taken twice or out of order, and what follows from it comes once. F3. A
 * tool's answer is applied once, and not without a call; one that may happen once was begun once at most. F4. Nothing
 * pending is forgotten. F5. Journals are whole, timers fire once and not early, and `verify` finds nothing.
 */
import { createRuntime, type Runtime } from "holdfast";
import { verify } from "holdfast/housekeeping";
import { postgres } from "holdfast/postgres";
import { journalProblems, settle } from "../kill/judge.ts";
import { findRuns } from "../kill/judge-changes.ts";
import type { Ledger } from "../kill/ledger.ts";
import { type Boss, type Count, type Mail, machineEntries, type Nap } from "../kill/machines.ts";

export interface Verdict {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** Waits until nothing is pending in the store at this address, and compares. */
export async function judge(url: string, ledger: Ledger): Promise<Verdict> {
  const hear = (line: string) => void ledger.read(line, Date.now());
  const observer = postgres(url);
  await observer.open();
  const runtime = await createRuntime({ store: postgres(url), machines: machineEntries(hear) });
  try {
    const pending = await settle(observer);
    const problems = pending.length > 0 ? [`F4: still waiting: ${pending.join(", ")}`] : [];
    const { runs, unreadable } = await findRuns(runtime, observer);
    problems.push(...unreadable.map((problem) => `F5: ${problem}`));
    let entries = 0;
    for (const found of runs.values()) {
      entries += found.entries.length;
      problems.push(
        ...journalProblems(found.head, found.entries, ledger).problems.map((one) => `F5: ${one}`),
      );
      problems.push(...(await runProblems(runtime, found.head.machine, found.head.run, ledger)));
    }
    problems.push(...lostRuns(ledger, new Set(runs.keys())));
    const { problems: findings } = await verify({ store: observer });
    problems.push(...findings.map((finding) => `F5: verify: ${JSON.stringify(finding)}`));
    return { problems: [...ledger.problems, ...problems], figures: { runs: runs.size, entries } };
  } finally {
    await runtime.close();
    await observer.close();
  }
}

/** The lists that must have the same numbers, by the event that brings them; the first has all that were taken. */
const lists: Readonly<
  Record<string, Readonly<Record<string, (context: never) => readonly (readonly number[])[]>>>
> = {
  count: { add: ({ numbers }: Count) => [numbers] },
  nap: { nap: ({ naps, wakes }: Nap) => [naps, wakes], later: ({ laters }: Nap) => [laters] },
  boss: {
    delegate: ({ asked, begun, results }: Boss) => [
      asked,
      begun,
      results.map(({ n, twice }) => (twice === 2 * n ? n : Number.NaN)),
    ],
  },
  mail: { mail: ({ asked }: Mail) => [asked] },
};

async function runProblems(
  runtime: Runtime,
  machine: string,
  run: string,
  ledger: Ledger,
): Promise<string[]> {
  const { context } = await (await runtime.run(run)).state();
  const problems: string[] = [];
  for (const [event, read] of Object.entries(lists[machine] ?? {})) {
    const [taken = [], ...followed] = read(context as never);
    const acked = ledger.acked.get(`${run} ${event}`) ?? new Set();
    const lost = [...acked].filter((n) => !taken.includes(n));
    if (lost.length > 0) problems.push(`F1: ${run} lost ${event} ${lost.join(", ")}`);
    const wrong = taken.findIndex((n, index) => n !== index);
    if (wrong >= 0) problems.push(`F2: ${run} has taken ${event} ${taken[wrong]} where ${wrong} should be`);
    for (const numbers of followed)
      if (JSON.stringify(numbers) !== JSON.stringify(taken))
        problems.push(`F2: ${run} took ${event} ${taken} and it led to ${numbers}`);
  }
  if (machine === "count") problems.push(...answerProblems(run, context as unknown as Count, ledger));
  if (machine === "mail") problems.push(...mailProblems(run, context as unknown as Mail, ledger));
  return problems;
}

function answerProblems(run: string, { answers }: Count, { tools, answered }: Ledger): string[] {
  const lost = [...answered.keys()].filter((key) => key.startsWith(`${run}:`) && !answers.includes(key));
  return [
    ...(new Set(answers).size < answers.length ? [`F3: ${run} has a tool's answer twice`] : []),
    ...answers.filter((key) => !tools.has(key)).map((key) => `F3: ${key} was answered and never called`),
    ...lost.map((key) => `F1: the answer of ${key} is lost`),
  ];
}

function mailProblems(run: string, { asked, sent, unknown }: Mail, { posts }: Ledger): string[] {
  const ofRun = [...posts].filter(([key]) => key.startsWith(`${run}:`));
  return [
    ...ofRun
      .filter(([, starts]) => starts > 1)
      .map(([key, starts]) => `F3: ${key} was begun ${starts} times`),
    ...sent.filter((key) => !posts.has(key)).map((key) => `F3: ${key} is told to be done and never began`),
    ...(asked.length === sent.length + unknown.length && new Set(sent).size === sent.length
      ? []
      : [`F3: ${run}: of ${asked.length} mails ${sent.length} were sent and ${unknown.length} are unknown`]),
  ];
}

/** Runs of which something was acknowledged, and that are not there at all. */
function lostRuns({ acked }: Ledger, found: ReadonlySet<string>): string[] {
  const runs = new Set([...acked.keys()].map((key) => key.split(" ")[0] as string));
  return [...runs].filter((run) => !found.has(run)).map((run) => `F1: the whole run ${run} is lost`);
}
