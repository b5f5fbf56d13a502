/** Bugs to plant in what is killed or loses its power: what these proofs must find, or they prove nothing. */
import type { Change } from "../simulation/plant.ts";
import type { TaskName } from "./tasks.ts";

export interface Bug extends Change {
  readonly name: string;
  /** What must be found: a rule of the judgement, or the words of an image's. */
  readonly breaks: readonly string[];
  /** Which proof finds it, */
  readonly proof: "signals" | "powerloss";
  /** and where: what victims must do, or the word with which the change is acknowledged that power is cut in. */
  readonly task?: TaskName;
  readonly word?: string;
  /** What else must change, where a second check would make up for the first. */
  readonly also?: readonly Change[];
}

const travel = "src/runtime/travel/travel.ts";
const backup = "src/runtime/housekeeping/backup.ts";
const remove = "src/store/sqlite/remove.ts";
const retention = "src/runtime/housekeeping/retention.ts";

export const bugs: readonly Bug[] = [
  {
    name: "a rollback is told before it is durable",
    breaks: ["K1", "K9"],
    proof: "powerloss",
    word: "back",
    file: travel,
    find: "return (await this.#world.deliver(run, event, take)).seq;",
    replace: "setImmediate(() => void this.#world.deliver(run, event, take)); return head.seq + 1;",
  },
  {
    name: "a rollback goes one too far",
    breaks: ["K9"],
    proof: "signals",
    task: "travel",
    file: travel,
    find: "const place = await this.#place(head, seq);\n    const machine",
    replace: "const place = { ...(await this.#place(head, Math.max(1, seq - 1))), seq };\n    const machine",
  },
  {
    name: "a fork does not say what it stands on",
    breaks: ["K10"],
    proof: "signals",
    task: "travel",
    file: travel,
    find: "const parts = { subject, attributes, fork: { run: source.run, seq, digest }, ...(limits && { limits }) };",
    replace: "const parts = { subject, attributes, ...(limits && { limits }) };",
    also: [
      {
        file: travel,
        find: "if (fork?.run === source.run && fork.seq === seq) return name;",
        replace: "if (fork !== null) return name;",
      },
    ],
  },
  {
    name: "a fork is told before it is durable",
    breaks: ["K10", "K13"],
    proof: "powerloss",
    word: "forked",
    file: travel,
    find: "    await deliver(run, event, (_, at) => {",
    replace: "    setImmediate(deliver, run, event, (_, at) => {",
  },
  {
    name: "a migration is told before it is durable",
    breaks: ["K1", "K11"],
    proof: "powerloss",
    word: "migrated",
    file: "src/runtime/evolution/evolution.ts",
    find: "      const report = await this.#move(run, hop, options);",
    replace:
      "      const report = plan.reports[0]; setImmediate(() => void this.#move(run, hop, options).catch(() => {}));",
  },
  {
    name: "a migration forgets timers",
    breaks: ["K2", "K8", "K11"],
    proof: "signals",
    task: "shift",
    file: "src/core/evolve/evolve.ts",
    find: "timers: sameList(state.timers, timers.timers()),",
    replace: "timers: sameList(state.timers, timers.timers().slice(1)),",
  },
  {
    name: "a hot swap forgets what was deferred",
    breaks: ["K2", "K11"],
    proof: "signals",
    task: "swap",
    file: "src/core/evolve/evolve.ts",
    find: "deferred: sameList(state.deferred, moveDeferred(move)),",
    replace: "deferred: sameList(state.deferred, moveDeferred(move).slice(1)),",
  },
  {
    name: "a deploy is told before the catalog knows",
    breaks: ["K12"],
    proof: "powerloss",
    word: "deployed",
    file: "src/runtime/evolution/catalog.ts",
    find: "this.#writing = this.#writing.catch(() => {}).then(write);\n    return this.#writing;",
    replace:
      "this.#writing = this.#writing.catch(() => {}).then(() => new Promise((later) => setTimeout(later, 50))).then(write);\n    return Promise.resolve();",
  },
  {
    name: "holds are not looked at",
    breaks: ["K13"],
    proof: "signals",
    task: "travel",
    file: "src/runtime/housekeeping/hold.ts",
    find: '("run" in one && one.run === run)',
    replace: '("run" in one && one.run === run.slice(1))',
  },
  {
    name: "forks are not looked at",
    breaks: ["K13"],
    proof: "signals",
    task: "travel",
    file: remove,
    find: "  if (forksOf(statements, name).some(({ stands }) => stands)) return false;\n  // Attributes",
    replace: "  // Attributes",
    also: [
      {
        file: retention,
        find: "forks.some((fork) => fork.stands && !this.#going.has(keyOf(fork)))",
        replace: 'forks.some((fork) => fork.run === "")',
      },
    ],
  },
  {
    name: "a removal is noted in a transaction of its own",
    breaks: ["K15"],
    proof: "powerloss",
    word: "removed",
    file: remove,
    find: "  statements.insertRemoval.run(id, head.tenant, head.subject, null);\n  return true;",
    replace:
      "  setTimeout(() => statements.insertRemoval.run(id, head.tenant, head.subject, null), 5);\n  return true;",
  },
  {
    name: "a pruning is noted in a transaction of its own",
    breaks: ["K7", "K13", "K15"],
    proof: "powerloss",
    word: "pruned",
    file: remove,
    find: "  statements.pruneRun.run(seq, id);",
    replace: "  setTimeout(() => statements.pruneRun.run(seq, id), 20);",
  },
  {
    name: "a backup leaves out the log",
    breaks: ["K14"],
    proof: "signals",
    task: "copy",
    file: "src/store/sqlite/backup.ts",
    find: "    await backup(source, destination, { rate: allPages });",
    replace: '    await (await import("node:fs/promises")).copyFile(path, destination, allPages & 0);',
  },
  {
    name: "a backup has its name before it is whole",
    breaks: ["K14"],
    proof: "powerloss",
    word: "backed",
    file: backup,
    find: "unfinished}`;\n  return onDisk(path, async () => {",
    replace: "unfinished.slice(0, 0)}`;\n  return onDisk(path, async () => {",
    also: [
      { file: backup, find: "  renameSync(from, to);", replace: "  if (from !== to) renameSync(from, to);" },
    ],
  },
  {
    name: "a backup is told before its name is durable",
    breaks: ["K14"],
    proof: "powerloss",
    word: "backed",
    file: backup,
    find: "  renameSync(from, to);\n  syncFile(dirname(to));",
    replace: "  renameSync(from, to);",
  },
];

export function findBug(name: string): Bug {
  const bug = bugs.find((one) => one.name === name);
  if (bug !== undefined) return bug;
  throw new Error(
    `There is no bug ${JSON.stringify(name)}; there are ${bugs.map((one) => one.name).join(", ")}`,
  );
}

/** Arguments with which Node runs a script that has this bug in it; none without one. */
export function plantArguments(bug: string | undefined): string[] {
  if (bug === undefined) return [];
  const url = new URL("./planted.ts", import.meta.url);
  url.searchParams.set("bug", findBug(bug).name);
  return ["--import", url.href];
}
