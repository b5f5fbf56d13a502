/** What can be read in a store: the states, heads and journals of its runs, in a form to keep and compare. */
import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

/** A run, as it was read. */
export interface ToldRun {
  readonly head: Json;
  readonly state: JsonObject;
  readonly journal: readonly Json[];
}

export interface Golden {
  readonly runs: Readonly<Record<string, ToldRun>>;
  readonly letters: Json;
}

/** Long texts as their beginning and their hash. */
function brief(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (_, item: unknown) =>
      typeof item === "string" && item.length > 99
        ? `${item.slice(0, 9)}… ${item.length} ${createHash("sha256").update(item).digest("hex").slice(0, 16)}`
        : item,
    ),
  ) as Json;
}

/** All that is to be found, now and later. */
export async function tellOf(runtime: Runtime, names: readonly string[]): Promise<Golden> {
  const runs: Record<string, ToldRun> = {};
  for (const name of names) {
    const run = await runtime.run(name);
    const { machine, version, hash, status, seq, digest, subject, createdAt, updatedAt, attributes } =
      await run.head();
    const journal: Json[] = [];
    for await (const entry of run.journal()) journal.push(brief(entry));
    runs[name] = {
      head: { machine, version, hash, status, seq, digest, subject, createdAt, updatedAt, attributes },
      state: brief(await run.state()) as JsonObject,
      journal,
    };
  }
  const letters: Json[] = [];
  if (runtime.deadLetters !== undefined)
    for await (const letter of runtime.deadLetters.list()) letters.push(brief(letter));
  return { runs, letters };
}

/** One line for the store, and one for each run. */
export function linesOf(version: number, { runs, letters }: Golden): string {
  const lines = [{ version, letters }, ...Object.entries(runs).map(([run, told]) => ({ run, ...told }))];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** What `linesOf` was given. */
export function readLines(lines: string): Golden & { readonly version: number } {
  const [first, ...rest] = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...first, runs: Object.fromEntries(rest.map(({ run, ...told }) => [run, told])) };
}
