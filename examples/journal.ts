/**
 * `npm run journal`: what the agent of `npm run survive` did, step by step, as its journal has it: when, on which event, with
 * which outcome, where that led, what it changed and what it asked of the world; then where the time went. Kills stand
 * in between, from the ledger outside: the journal knows nothing of them. `npm run journal -- <run>` shows another run.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Entry, State } from "holdfast";
import { showEffect, showPatch, showTime } from "./describe.ts";
import { colours, type Paint, plain, wrap } from "./draw.ts";
import { defaultFolder, ledgerPath, storePath } from "./folder.ts";
import { type RunRecord, readRuns } from "./read-journal.ts";
import { type KillLine, readLedger } from "./world.ts";

const { values, positionals } = parseArgs({
  options: { folder: { type: "string", default: defaultFolder } },
  allowPositionals: true,
});
const { folder } = values;
const paint: Paint = process.stdout.isTTY && !process.env.NO_COLOR ? colours : plain;
const width = Math.min(process.stdout.columns ?? 120, 120);
const indent = 18;
const barWidth = 24;

const say = (line = ""): void => console.log(line);

/** The parts of a step that have something to say, each in as many lines as it needs. */
function sayEntry({ entries, states }: RunRecord, index: number, since: number): void {
  const { seq, at, event, outcome, patches, effects, error } = entries[index] as Entry;
  const { configuration } = states[index] as State;
  const moved = configuration.join() !== states[index - 1]?.configuration.join();
  const time = `+${showTime(at - since)}`.padStart(indent - 7);
  const verdict = paint(outcome === "taken" ? "good" : "bad", outcome);
  say(`${String(seq).padStart(4)} ${time}  ${paint("strong", event.type)} ${verdict}`);
  const changes = patches.filter(({ path }) => path[0] === "context").map(showPatch);
  const rows: readonly (readonly [label: string, value: string])[] = [
    ["in", moved ? configuration.join(", ") : ""],
    ["why", typeof error?.message === "string" ? error.message : ""],
    ["changed", changes.join("; ")],
    ["effects", effects.map((effect) => showEffect(effect, since)).join("; ")],
  ];
  for (const [label, value] of rows.filter(([, value]) => value !== "")) {
    const lines = wrap(`${label.padEnd(9)}${value}`, width - indent, " ".repeat(9));
    for (const line of lines) say(" ".repeat(indent) + paint("quiet", line));
  }
}

function sayKill({ at, killed }: KillLine, since: number): void {
  const time = `+${showTime(at - since)}`.padStart(indent - 7);
  say(paint("bad", `   ✗ ${time}  process ${killed} killed with SIGKILL`));
}

/** What a run waited for in each stretch between two steps, and for how long altogether, the longest first. */
function waitsOf({ entries, states }: RunRecord): [what: string, ms: number][] {
  const waits = new Map<string, number>();
  for (const [index, { at }] of entries.entries()) {
    const next = entries[index + 1];
    const { activities, children } = states[index] as State;
    const pending = [...activities.map(({ activity }) => activity), ...children.map(({ id }) => id)];
    const what = pending.length === 0 ? "an event or the clock" : pending.toSorted().join(" and ");
    if (next !== undefined) waits.set(what, (waits.get(what) ?? 0) + next.at - at);
  }
  return [...waits].sort(([, one], [, other]) => other - one);
}

function sayTimes(record: RunRecord): void {
  const waits = waitsOf(record);
  const total = waits.reduce((sum, [, ms]) => sum + ms, 0);
  const labelWidth = Math.max(0, ...waits.map(([what]) => what.length));
  say(paint("strong", "Where the time went, by what it waited for:"));
  for (const [what, ms] of waits) {
    const share = total === 0 ? 0 : ms / total;
    const bar = "█".repeat(Math.round(share * barWidth)).padEnd(barWidth);
    const percent = `${Math.round(share * 100)} %`.padStart(5);
    say(`  ${what.padEnd(labelWidth)}  ${paint("good", bar)} ${percent}  ${showTime(ms)}`);
  }
}

function sayRun(record: RunRecord, kills: readonly KillLine[]): void {
  const { run, machine, version, status, createdAt, updatedAt, spent = {} } = record.head;
  const used = `${(spent.tokens ?? 0).toLocaleString("en")} tokens, cost ${(spent.cost ?? 0).toFixed(2)}`;
  const lasted = showTime(updatedAt - createdAt);
  say(
    paint(
      "strong",
      `${run}: ${machine}@${version}, ${status} after ${lasted} and ${record.entries.length} steps`,
    ),
  );
  say(paint("quiet", `${used}; ${storePath(folder)}\n`));
  const left = kills.filter(({ at }) => at >= createdAt);
  for (const [index, { at }] of record.entries.entries()) {
    while (left[0] !== undefined && left[0].at < at) sayKill(left.shift() as KillLine, createdAt);
    sayEntry(record, index, createdAt);
  }
  if (status === "active") for (const kill of left) sayKill(kill, createdAt);
  say();
  sayTimes(record);
}

/** Says why there is nothing to show. */
function fail(line: string): void {
  console.error(line);
  process.exitCode = 1;
}

const runs = existsSync(storePath(folder)) ? await readRuns(storePath(folder)) : [];
const [wanted] = positionals;
const found = wanted === undefined ? runs[0] : runs.find(({ head }) => head.run === wanted);
const others = runs.filter((one) => one !== found).map(({ head }) => head.run);
if (runs.length === 0) fail(`There is no journal in ${folder} yet. Run npm run survive first.`);
else if (found === undefined) fail(`There is no run ${wanted}. There are: ${others.join(", ")}`);
else {
  sayRun(found, existsSync(ledgerPath(folder)) ? readLedger(ledgerPath(folder)).kills : []);
  if (others.length > 0) say(paint("quiet", `\nOther runs: ${others.join(", ")}`));
}
