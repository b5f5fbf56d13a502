/** The `holdfast` command in a process of its own, run from its source as a shell would run what is built from it. */
import { type SpawnOptionsWithoutStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../project.ts";

export interface Command {
  readonly pid: number;
  /** All it has said so far. */
  readonly said: { out: string; err: string };
  /** Resolves with what matched once it has said so, on either channel; rejects if it ends instead. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** The code it ended with, or the signal. */
  readonly ended: Promise<number | string>;
}

export function holdfast(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = root,
): Command {
  return begin(
    process.execPath,
    ["--conditions=holdfast-source", "--no-warnings", join(root, "src/cli/main.ts"), ...argv],
    { cwd, env: { ...process.env, ...env } },
  );
}

/** Any program, heard in the same way. */
export function begin(
  program: string,
  argv: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): Command {
  const child = spawn(program, argv, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const hear = (channel: keyof typeof said) => (piece: Buffer) => {
    said[channel] += piece.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", hear("out"));
  child.stderr.on("data", hear("err"));
  const ended = new Promise<number | string>((resolve) =>
    child.on("close", (code, signal) => resolve(code ?? signal ?? "gone")),
  );
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(said.out) ?? pattern.exec(said.err);
        if (match === null) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      void ended.then((code) => reject(new Error(`It ended with ${code}: ${said.out}${said.err}`)));
      look();
    });
  return { pid: child.pid as number, said, says, ended, signal: (name) => void child.kill(name) };
}
