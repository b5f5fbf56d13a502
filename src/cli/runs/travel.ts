/** `holdfast runs rollback`, `fork` and `diff`: a run as it was, on from there, and what differs. */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Patch, TravelPreview } from "../../server/contract.ts";
import { countOption, type Given, jsonIn, misused, pairOption, pairsOf, textOf } from "../arguments.ts";
import { addActor, connected, looking, runCommand, tell } from "../connect.ts";
import { plain, shortJson } from "../table.ts";
import type { World } from "../world.ts";

export function rollbackCommand(world: World): Command {
  const command = runCommand({
    name: "rollback",
    about: "Takes a run back to a checkpoint, in a new step: nothing of its journal is rewritten.",
    examples: ["runs rollback trip-42 --to 12 --dry-run", "runs rollback trip-42 --by 1 --set budget=900"],
  });
  return addContextOptions(command, "to go on with")
    .addOption(countOption("--to <seq>", "to this checkpoint"))
    .addOption(countOption("--by <n>", "by so many checkpoints"))
    .option("--dry-run", "only tells what would begin again and what would be cancelled")
    .action(
      connected(world, async (client, given, run: string) => {
        const to = await targetOf(client, run, given);
        const edited = await editedContext(client, given, { run, at: to }, world);
        if (given.dryRun === true)
          return preview(client, given, { ...{ run, at: to, kind: "rollback" }, ...edited }, world);
        const done = await client.runs.rollback({ run, to, ...edited });
        tell(world, given, done, () => [`${plain(run)} is back at ${to}, with checkpoint ${done.seq}`]);
      }),
    );
}

async function targetOf(client: Client, run: string, { to, by }: Given): Promise<number> {
  if ((to === undefined) === (by === undefined))
    throw misused("Say where to with --to, or how far with --by");
  if (to !== undefined) return to as number;
  const { seq } = await client.runs.show({ run });
  if ((by as number) < seq) return seq - (by as number);
  throw misused(`${run} is at checkpoint ${seq}; it can be taken back by ${seq - 1} at most`);
}

export function forkCommand(world: World): Command {
  const command = runCommand({
    name: "fork",
    about: "Begins another run from a checkpoint of this one, which stays as it is.",
    examples: ["runs fork trip-42 --at 12", `runs fork trip-42 --at 12 --id rich --set budget=900`],
  });
  return addContextOptions(command, "to begin with")
    .addOption(countOption("--at <seq>", "the checkpoint to begin from; the newest one unless given"))
    .option("--id <run>", "the fork's own id; a new one unless given")
    .option("--dry-run", "only tells what would begin again")
    .action(connected(world, (client, given, run: string) => fork(client, given, run, world)));
}

async function fork(client: Client, given: Given, run: string, world: World): Promise<void> {
  const at = (given.at as number | undefined) ?? (await client.runs.show({ run })).seq;
  const edited = await editedContext(client, given, { run, at }, world);
  if (given.dryRun === true)
    return preview(client, given, { ...{ run, at, kind: "fork" }, ...edited }, world);
  const id = textOf(given, "id");
  const made = await client.runs.fork({ run, at, ...(id === undefined ? {} : { fork: id }), ...edited });
  tell(world, given, made, () => [`${plain(made.run)}: ${plain(made.waiting.line)}`]);
}

const addContextOptions = (command: Command, what: string): Command =>
  addActor(command)
    .addOption(pairOption("--set <name=json>", `a field of the context ${what}`))
    .option("--context <file>", `a file with the whole context ${what}, as JSON`);

/** The context to go on with; nothing if it is as it was. */
async function editedContext(
  client: Client,
  given: Given,
  { run, at }: { readonly run: string; readonly at: number },
  world: World,
): Promise<{ readonly context?: JsonObject }> {
  const file = textOf(given, "context");
  const edits = pairsOf(given, "set");
  if (file === undefined && edits.length === 0) return {};
  const context: JsonObject =
    file === undefined
      ? ((await client.runs.state({ run, at })).state.context as JsonObject)
      : contextIn(resolve(world.cwd, file));
  return { context: { ...context, ...Object.fromEntries(edits) } };
}

function contextIn(path: string): JsonObject {
  const context = jsonIn("--context", path);
  if (typeof context === "object" && context !== null && !Array.isArray(context))
    return context as JsonObject;
  throw misused(`--context is ${path}, which has no object in it; write one, as {"budget":900}`);
}

interface Asked {
  readonly run: string;
  readonly at: number;
  readonly kind: "fork" | "rollback";
  readonly context?: JsonObject;
}

async function preview(
  client: Client,
  given: Given,
  { context, ...asked }: Asked,
  world: World,
): Promise<void> {
  const found =
    context === undefined
      ? await client.runs.travel(asked)
      : await client.runs.preview({ ...asked, context });
  tell(world, given, found, () => previewLines(found));
}

function previewLines({
  at,
  kind,
  configuration,
  begins,
  cancels,
  stays,
  done,
  refused,
}: TravelPreview): string[] {
  const names = (works: readonly { readonly kind: string; readonly name: string }[]) =>
    works.map((work) => `  ${work.kind} ${plain(work.name)}`);
  const part = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [title, ...lines]);
  return [
    `${kind === "fork" ? "A fork" : "It"} would go on at ${at}, in ${configuration.join(", ")}`,
    ...(refused === undefined ? [] : [`It cannot: ${plain(refused)}`]),
    ...part("begins again:", names(begins)),
    ...part("is cancelled:", names(cancels)),
    ...part("stays under way:", names(stays)),
    ...part(
      "was done since, and stays done:",
      done.map(({ activity, seq }) => `  ${plain(activity)} at ${seq}`),
    ),
  ];
}

export function diffCommand(world: World): Command {
  const command = runCommand({
    name: "diff",
    about: "Tells what differs between two checkpoints of a run, or between two runs.",
    examples: ["runs diff trip-42 3 12", "runs diff trip-42 --with trip-43"],
  });
  return command
    .argument("[from]", "a checkpoint")
    .argument("[to]", "another one; the newest unless given")
    .option("--with <run>", "another run, to find where the two part")
    .action(
      looking(world, async (client, given, run: string, from?: string, to?: string) => {
        const other = textOf(given, "with");
        if (other !== undefined) return compare(client, given, { one: run, other }, world);
        if (from === undefined)
          throw misused("Say which checkpoint to begin with, or which other run: --with");
        const found = await client.runs.diff({
          ...{ run, from: seqOf(from) },
          ...(to === undefined ? {} : { to: seqOf(to) }),
        });
        tell(world, given, found, () => found.patches.map(patchLine));
      }),
    );
}

function seqOf(text: string): number {
  const seq = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(seq) && seq >= 1) return seq;
  throw misused(`${text} is no checkpoint; write its number, as runs tail --from 1 tells it`);
}

async function compare(
  client: Client,
  given: Given,
  pair: { readonly one: string; readonly other: string },
  world: World,
): Promise<void> {
  const found = await client.runs.compare(pair);
  const { one, other } = found.first;
  tell(world, given, found, () => [
    `${found.common} steps in common`,
    ...(one === undefined ? [] : [`${plain(pair.one)} went on with ${plain(one.entry.event.type)}`]),
    ...(other === undefined ? [] : [`${plain(pair.other)} went on with ${plain(other.entry.event.type)}`]),
    ...found.patches.map(patchLine),
  ]);
}

function patchLine(patch: Patch): string {
  const { op, path, ...rest } = patch as Patch & { readonly path: readonly (string | number)[] };
  return `${op} $${path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("")} ${plain(shortJson(rest, 120))}`;
}
