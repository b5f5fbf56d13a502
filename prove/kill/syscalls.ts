/**
 * Part two of the proof: a short life that touches everything is traced once, and each system call it made on the files
 * of its store becomes a case: the process is killed there, or the call fails with EIO, with ENOSPC or, for a write,
 * writes nothing. Then the store is opened without any of that and judged as after a random kill. A process whose call
 * failed must have told whoever waited with a STORE_ code, or have gone on as if nothing had been; it may not hang.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRandom } from "../../test/generate/random.ts";
import { bundle } from "./bundle.ts";
import { backupsOf, type Judgement, judgeAny } from "./judge.ts";
import { byLine, Ledger } from "./ledger.ts";
import { add } from "./signals.ts";
import { filesOf, filesOfBackup, shortNoon, traceArguments } from "./strace.ts";

export interface SyscallOptions {
  readonly seed: number;
  /** How many cases; all of them without a number. */
  readonly cases: number | undefined;
  /** Just this one, as a problem names it: `pwrite64 12 error=EIO`, or `backup fsync 1 error=EIO`. */
  readonly only: string | undefined;
  readonly folder: string;
  readonly progress: (text: string) => void;
  /** Told of every problem at once. */
  readonly report: (problem: string) => void;
}

type Fault = "signal=KILL" | "error=EIO" | "error=ENOSPC" | "retval=0";

/** Files that are traced by themselves: those of the store, and those of its backup. */
type Files = "store" | "backup";

/** A call that a life made: the n-th of that name on these files in its thread. */
interface Call {
  readonly files: Files;
  readonly call: string;
  readonly when: number;
}

/** Such a call, and what is to happen there. */
interface Case extends Call {
  readonly fault: Fault;
}

/** Calls that need room: only these can find that there is none. */
const growing = new Set(["pwrite64", "write", "ftruncate", "fallocate", "openat", "fsync", "fdatasync"]);
/** Only ends what hangs: a lock that could not be given back keeps SQLite waiting for half a minute. */
const lifeMsMax = 180_000;

const source = fileURLToPath(new URL("./short.ts", import.meta.url));

/** How a life is begun, before the path of its store. */
interface Beginning {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Goes through the cases; says what was found, and how many of which kind there were. */
export async function proveSyscalls(options: SyscallOptions): Promise<Pick<Judgement, "figures">> {
  const { folder, progress, report } = options;
  const beginning: Beginning = {
    // Fewer threads are fewer stops for strace.
    command: [process.execPath, "--v8-pool-size=0", await bundle(source, folder)],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") },
  };
  const { calls, shadowed } = traceOnce(folder, beginning);
  const chosen = choose(casesOf(calls), options);
  const total: Record<string, number> = { calls: calls.length, "left out": shadowed };
  const queue = [...chosen];
  let done = 0;
  const lane = async (number: number) => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      const place = join(folder, `case-${number}`);
      mkdirSync(place);
      const { figures, problems } = await tryCase(one, place, beginning);
      rmSync(place, { recursive: true });
      add(total, figures);
      for (const problem of problems) report(`${nameOf(one)}: ${problem}`);
      progress(`${++done} of ${chosen.length} cases`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, (_, number) => lane(number)));
  return { figures: total };
}

/** The paths of these files, and of their folder. */
function pathsOf(files: Files, path: string, place: string): string[] {
  const directory = backupsOf(path);
  return files === "store" ? [...filesOf(path), place] : [directory, ...filesOfBackup(directory, shortNoon)];
}

/**
 * The calls that a life without faults makes, in order. Strace counts in each thread by itself, and a fault comes to
 * whichever gets so far first: a call that another thread has been as far with before cannot be hit and is left out. Those
 * are the ones with which a backup reads the store, in a thread of its own.
 */
function traceOnce(folder: string, { command, env }: Beginning): { calls: Call[]; shadowed: number } {
  const place = join(folder, "traced");
  mkdirSync(place);
  const path = join(place, "short.db");
  const trace = join(folder, "trace");
  // The first life fills the cache of compiled modules, and its calls are not those of the others.
  const [node = "", ...given] = command;
  spawnSync(node, [...given, join(place, "first.db")], { env });
  const paths = [...pathsOf("store", path, place), ...pathsOf("backup", path, place)];
  const args = traceArguments(paths, trace, "-e", "trace=all", ...command, path);
  const { stdout } = spawnSync("strace", args, { env, encoding: "utf8" });
  if (!stdout.endsWith("closed\n")) throw new Error(`The life without faults did not end well:\n${stdout}`);
  const counts = new Map<string, number>();
  const calls = new Map<string, Call>();
  let shadowed = 0;
  for (const [, thread, call = "", rest = ""] of readFileSync(trace, "utf8").matchAll(
    /^(\d+) +(\w+)\((.*)$/gm,
  )) {
    const files = rest.includes(backupsOf(path)) ? "backup" : "store";
    const when = (counts.get(`${thread} ${files} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${files} ${call}`, when);
    const name = `${files} ${call} ${when}`;
    if (calls.has(name)) shadowed++;
    else calls.set(name, { files, call, when });
  }
  return { calls: [...calls.values()], shadowed };
}

function casesOf(calls: readonly Call[]): Case[] {
  return calls.flatMap((one) => {
    const faults: Fault[] = ["signal=KILL", "error=EIO"];
    if (growing.has(one.call)) faults.push("error=ENOSPC");
    if (one.call === "pwrite64") faults.push("retval=0");
    return faults.map((fault) => ({ ...one, fault }));
  });
}

const nameOf = ({ files, call, when, fault }: Case): string =>
  `${files === "backup" ? "backup " : ""}${call} ${when} ${fault}`;

function choose(all: readonly Case[], { cases, only, seed }: SyscallOptions): readonly Case[] {
  if (only === undefined) return cases === undefined ? all : sample(all, cases, seed);
  const found = all.filter((one) => nameOf(one) === only);
  if (found.length === 0) throw new Error(`There is no case ${JSON.stringify(only)} among ${all.length}`);
  return found;
}

/** So many cases, with every pair of call and fault in turn before any has a second one. */
function sample(all: readonly Case[], count: number, seed: number): Case[] {
  const random = createRandom(seed);
  const kinds = new Map<string, Case[]>();
  for (const one of all) {
    const kind = `${one.files} ${one.call} ${one.fault}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  const chosen: Case[] = [];
  while (chosen.length < Math.min(count, all.length)) {
    for (const cases of kinds.values())
      if (cases.length > 0) chosen.push(...cases.splice(random.below(cases.length), 1));
  }
  return chosen.slice(0, count);
}

async function tryCase(one: Case, place: string, beginning: Beginning): Promise<Judgement> {
  const path = join(place, "short.db");
  const ledger = new Ledger();
  const end = await live(one, { ...beginning, path, place, ledger });
  const problems = problemsOf(one, end);
  const figures: Record<string, number> = { [one.fault]: 1, [`${one.fault} ${end.kind}`]: 1 };
  problems.push(...(await judgeAny(path, ledger)).problems);
  return { problems, figures };
}

interface End {
  readonly kind: "killed" | "refused" | "unharmed" | "hung" | "crashed" | "odd";
  readonly text: string;
}

/** Lives once under strace with this one fault; how it ended. */
async function live(
  { files, call, when, fault }: Case,
  { path, place, ledger, command, env }: Beginning & { path: string; place: string; ledger: Ledger },
): Promise<End> {
  const args = traceArguments(pathsOf(files, path, place), "/dev/null");
  // With its filter strace is faster, and cannot send a signal.
  if (fault !== "signal=KILL") args.push("--seccomp-bpf");
  args.push("-e", `trace=${call}`, "-e", `inject=${call}:${fault}:when=${when}`, ...command, path);
  const child = spawn("strace", args, { stdio: ["ignore", "pipe", "ignore"], env, detached: true });
  const lines: string[] = [];
  child.stdout.setEncoding("utf8").on(
    "data",
    byLine((line) => {
      lines.push(line);
      ledger.read(line, Date.now());
    }),
  );
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    process.kill(-(child.pid as number), "SIGKILL");
  }, lifeMsMax);
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  clearTimeout(timer);
  const last = lines.at(-1) ?? "";
  if (hung) return { kind: "hung", text: `it hung after ${JSON.stringify(last)}` };
  if (signal === "SIGKILL") return { kind: "killed", text: last };
  if (last.startsWith("error ")) return { kind: "refused", text: last };
  if (last.startsWith("crashed ")) return { kind: "crashed", text: last };
  if (last === "closed" && code === 0) return { kind: "unharmed", text: last };
  return { kind: "odd", text: `it ended with ${code ?? signal} after ${JSON.stringify(last)}` };
}

function problemsOf({ fault }: Case, { kind, text }: End): string[] {
  if (fault === "signal=KILL") return kind === "killed" ? [] : [`it was not killed: ${kind}, ${text}`];
  if (kind === "unharmed") return [];
  if (kind === "refused" && /^error (STORE_|BACKUP_UNUSABLE)/.test(text)) return [];
  return [`no clear error: ${kind}, ${text}`];
}
