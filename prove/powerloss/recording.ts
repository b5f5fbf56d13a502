/**
 * A recording: everything a process did to the files of its store that a power cut could undo, in order, with what it
 * acknowledged in between. Made by strace from a real process; the contents of every write are in it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { plantArguments } from "../kill/bugs.ts";
import { filesOf, filesOfBackup, shortNoon, traceArguments } from "../kill/strace.ts";

/**
 * A write, a change of size or a sync concerns the file that had the name then; a sync without one the folder. What was
 * said is in the words of `prove:kill`: what is about to be done, and what is acknowledged.
 */
export type Operation =
  | { readonly kind: "create"; readonly name: string }
  | { readonly kind: "unlink"; readonly name: string }
  | { readonly kind: "rename"; readonly name: string; readonly to: string }
  | { readonly kind: "write"; readonly name: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly name: string; readonly size: number }
  | { readonly kind: "sync"; readonly name: string }
  | { readonly kind: "syncFolder" }
  | { readonly kind: "said"; readonly line: string };

export interface Recording {
  readonly seed: number;
  readonly operations: readonly Operation[];
  /** The file as the process left it in the end: what every image is a beginning of. */
  readonly path: string;
}

export interface RecordingOptions {
  readonly seed: number;
  readonly steps: number;
  readonly synchronous: "full" | "normal";
  /** An empty folder of its own. */
  readonly folder: string;
  /** A bug to plant in the process, by name. */
  readonly bug?: string | undefined;
}

export const storeName = "store.db";
/** The times of the backups that a recording may have: their names must be known before they are there. */
export const recordedBackups: readonly number[] = Array.from({ length: 6 }, (_, n) => shortNoon + n * 1_000);
const calls = "openat,creat,unlink,unlinkat,rename,renameat,renameat2,write,writev,pwrite64,pwritev,pwritev2";
const sizes = "ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range";

const script = fileURLToPath(new URL("./workload.ts", import.meta.url));

/** Runs the workload under strace and reads what it did. */
export function record({ seed, steps, synchronous, folder, bug }: RecordingOptions): Recording {
  const place = join(folder, "recorded");
  mkdirSync(place, { recursive: true });
  const path = join(place, storeName);
  const ledger = join(folder, "ledger");
  const trace = join(folder, "trace");
  // Strings in full, and every byte as a number: nothing to guess when it is read.
  const show = ["--seccomp-bpf", "-xx", "-s", "1000000", "-e", `trace=${calls},${sizes}`];
  const node = [
    process.execPath,
    "--conditions=holdfast-source",
    ...plantArguments(bug),
    script,
    path,
    ledger,
    String(seed),
    String(steps),
    synchronous,
  ];
  const backups = recordedBackups.flatMap((at) => filesOfBackup(place, at));
  const args = traceArguments([...filesOf(path), ...backups, place, ledger], trace, ...show, ...node);
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "..", "compiled") };
  const { status, stderr } = spawnSync("strace", args, { env, encoding: "utf8" });
  // One with a bug in it may come to no good end; what it did until then is what there is to judge.
  if (status !== 0 && bug === undefined)
    throw new Error(`The workload of seed ${seed} ended with ${status}: ${stderr}`);
  return { seed, path, operations: readTrace(readFileSync(trace, "latin1"), place, ledger) };
}

/** The operations in a trace of strace with `-f -y -xx`. */
export function readTrace(trace: string, place: string, ledger: string): Operation[] {
  const names = new Set<string>();
  const unfinished = new Map<string, string>();
  const operations: Operation[] = [];
  for (const line of trace.split("\n")) {
    const [, pid = "", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith("<unfinished ...>")) {
      unfinished.set(pid, text.slice(0, -"<unfinished ...>".length).trimEnd());
      continue;
    }
    const whole = text.replace(/^<\.\.\. \w+ resumed>/, () => unfinished.get(pid) ?? "");
    const call = parseCall(whole);
    if (call !== undefined) operations.push(...operationsOf(call, { place, ledger, names }));
  }
  return operations;
}

interface Call {
  readonly name: string;
  /** The path of the descriptor it was given, or its first text. */
  readonly path: string;
  readonly text: string;
  /** The text after that. */
  readonly second: string;
  /** The numbers after the text. */
  readonly numbers: readonly number[];
  readonly arguments: string;
}

/** A call that succeeded. */
function parseCall(text: string): Call | undefined {
  const match = /^(\w+)\((.*)\) += (\d+)/.exec(text);
  if (match === null) return undefined;
  const [, name = "", rest = ""] = match;
  const [, descriptor] = /^\d+<([^>]*)>/.exec(rest) ?? [];
  const [string = "", second = ""] = [...rest.matchAll(/"([^"]*)"/g)].map(([, quoted]) => quoted);
  const after = rest.slice(rest.lastIndexOf('"') + 1).replace(/<[^>]*>/g, "");
  const numbers = [...after.matchAll(/(?:^|[ ,])(\d+)(?=,|$)/g)].map(([, digits]) => Number(digits));
  return { name, path: textIn(descriptor ?? string), text: string, second, numbers, arguments: rest };
}

const bytesOf = (escaped: string): Buffer => Buffer.from(escaped.replaceAll("\\x", ""), "hex");
const textIn = (escaped: string): string => bytesOf(escaped).toString("utf8");

interface Scene {
  readonly place: string;
  readonly ledger: string;
  /** The files that are there. */
  readonly names: Set<string>;
}

function operationsOf(call: Call, { place, ledger, names }: Scene): Operation[] {
  const { name: verb, path, text, numbers } = call;
  const name = basename(path);
  if (verb === "unlinkat")
    return operationsOf({ ...call, name: "unlink", path: textIn(text) }, { place, ledger, names });
  if (path === place) return verb === "fsync" || verb === "fdatasync" ? [{ kind: "syncFolder" }] : [];
  if (path === ledger) return verb === "write" ? linesIn(textIn(text)) : [];
  if (name.endsWith("-shm")) return [];
  if (verb === "openat") {
    if (names.has(name) || !call.arguments.includes("O_CREAT")) return [];
    names.add(name);
    return [{ kind: "create", name }];
  }
  if (verb === "unlink") {
    names.delete(name);
    return [{ kind: "unlink", name }];
  }
  if (verb === "rename") {
    const to = basename(textIn(call.second));
    names.delete(name);
    names.add(to);
    return [{ kind: "rename", name, to }];
  }
  if (verb === "fsync" || verb === "fdatasync") return [{ kind: "sync", name }];
  if (verb === "ftruncate") return [{ kind: "truncate", name, size: numbers.at(-1) as number }];
  if (verb === "pwrite64") {
    const bytes = bytesOf(text);
    const [length, offset] = numbers.slice(-2) as [number, number];
    if (bytes.length !== length)
      throw new Error(`A write of ${length} bytes at ${offset} was recorded as ${bytes.length}`);
    return [{ kind: "write", name, offset, bytes }];
  }
  // A way of writing that this file does not know would be a hole in the proof.
  throw new Error(`The store used ${verb} on ${name}, which the recording cannot tell of`);
}

function linesIn(text: string): Operation[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => ({ kind: "said", line }) as const);
}
