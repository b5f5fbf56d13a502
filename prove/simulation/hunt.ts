/**
 * Hunts for planted bugs, two at a time. Each is hunted by a process of its own, since a bug is planted as the sources are
 * loaded.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bug } from "./bugs/bug.ts";

const root = join(import.meta.dirname, "../..");
/** How many are hunted at a time. */
const hunters = 2;
/** A bug that no world of so many catches counts as not caught. */
const worldsMax = 500;

/** How a hunt ended. */
export interface Hunted {
  readonly bug: Bug;
  /** How many worlds it took; undefined if none caught the bug, or only by an invariant that it should not break. */
  readonly worlds: number | undefined;
  /** All that was printed. */
  readonly said: string;
}

export interface HuntOptions {
  /** The world that each hunt begins with. */
  from(bug: Bug): number;
  /** A hunt is over. */
  told(hunted: Hunted): void;
}

/** Hunts each of these bugs; resolves when all hunts are over. */
export async function huntAll(bugs: readonly Bug[], { from, told }: HuntOptions): Promise<void> {
  // Compiled sources are kept between the processes: most of what a short hunt costs is reading them.
  const cache = mkdtempSync(join(tmpdir(), "holdfast-hunt-"));
  const left = bugs.values();
  const hunting = Array.from({ length: hunters }, async () => {
    for (const bug of left) told(await hunt(bug, from(bug), cache));
  });
  await Promise.all(hunting).finally(() => rmSync(cache, { recursive: true, force: true }));
}

/** Hunts each bug from one world on, wherever that is; false unless all are caught. */
export async function huntFrom(
  from: number,
  bugs: readonly Bug[],
  print: (line: string) => void,
): Promise<boolean> {
  const worlds: number[] = [];
  const told = (hunted: Hunted) => {
    if (hunted.worlds !== undefined) worlds.push(hunted.worlds);
    print(hunted.said.trim().split("\n").at(-1) as string);
  };
  await huntAll(bugs, { from: () => from, told });
  const sorted = worlds.toSorted((one, other) => one - other);
  const isGood = worlds.length === bugs.length;
  print(
    `prove:simulation ${isGood ? "passed" : "failed"}: ${worlds.length} of ${bugs.length} planted bugs caught from world ${from} on, half of them within ${sorted[Math.floor(sorted.length / 2)]} worlds, the last within ${sorted.at(-1)}`,
  );
  return isGood;
}

function hunt(bug: Bug, from: number, cache: string): Promise<Hunted> {
  const flags = ["--bug", bug.name, "--from", String(from), "--seeds", String(worldsMax)];
  return new Promise((resolve, reject) => {
    const hunter = spawn(
      process.execPath,
      ["--conditions=holdfast-source", "prove/simulation.ts", ...flags],
      { cwd: root, env: { NODE_COMPILE_CACHE: cache, ...process.env } },
    );
    const pieces: Buffer[] = [];
    hunter.stdout.on("data", (piece: Buffer) => pieces.push(piece));
    hunter.stderr.on("data", (piece: Buffer) => pieces.push(piece));
    hunter.on("error", reject);
    hunter.on("close", (status) => {
      const said = Buffer.concat(pieces).toString();
      const world = / in world (\d+)/.exec(said)?.[1];
      const isCaught = status === 0 && world !== undefined;
      resolve({ bug, said, worlds: isCaught ? Number(world) - from + 1 : undefined });
    });
  });
}
