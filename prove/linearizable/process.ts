/** The processes of the proof: started with a bug planted in them or none, heard line by line, and killed. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { byLine } from "../kill/ledger.ts";
import { plantArguments } from "./bugs.ts";

export interface Started {
  /** Resolves when it has said that it is ready, or has ended. */
  readonly ready: Promise<void>;
  /** Tells it to begin, with a word. */
  begin(word: string): void;
  /** Resolves when it has ended: with what was wrong, unless it came to its end or was killed from here. */
  readonly ended: Promise<string | undefined>;
  /** Kills it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface StartOptions {
  readonly script: "owner" | "client";
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly bug: string | undefined;
  /** Told of every line but `ready`. */
  readonly hear: (line: string) => void;
}

/** Starts a process, which loads, says `ready` and waits: starting takes longer than most of what is done here. */
export function startProcess({ script, args, env, bug, hear }: StartOptions): Started {
  const path = fileURLToPath(new URL(`./${script}.ts`, import.meta.url));
  const child = spawn(
    process.execPath,
    ["--conditions=holdfast-source", ...plantArguments(bug), path, ...args],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env,
    },
  ) as ChildProcessByStdio<Writable, Readable, Readable>;
  let errors = "";
  let isKilled = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  let isReady = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const lines = byLine((line) => (line === "ready" ? isReady() : hear(line)));
  child.stdout.setEncoding("utf8").on("data", lines);
  // It may be dead by the time it is told something.
  child.stdin.on("error", () => {});
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      isReady();
      const isWell = isKilled || code === 0;
      resolve(isWell ? undefined : `${script} ended by itself with ${code ?? signal}: ${errors.trim()}`);
    });
  });
  return {
    ready,
    begin: (word) => void child.stdin.write(`${word}\n`),
    ended,
    kill: async () => {
      isKilled = true;
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** In such a process: says that it is ready, and waits for the word. */
export async function awaitBeginning(): Promise<string> {
  writeSync(1, "ready\n");
  const [word] = await once(process.stdin.setEncoding("utf8"), "data");
  // Nothing more comes, and nobody should live on for it.
  process.stdin.destroy();
  return String(word).trim();
}
