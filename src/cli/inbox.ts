/** `holdfast inbox`: decisions that wait for a person. */
import type { Command } from "commander";
import type { Client } from "../client/client.ts";
import type { Decision, Verdict } from "../server/contract.ts";
import { type Given, jsonOf, misused, textOf } from "./arguments.ts";
import { addActor, connected, connectedCommand, looking, tell } from "./connect.ts";
import { exit } from "./exit.ts";
import { type Cell, plain, shortJson, tableOf, timeText } from "./table.ts";
import { commandOf, type World } from "./world.ts";

export function inboxCommand(world: World): Command {
  return commandOf({ name: "inbox", about: "Decisions that wait for a person." })
    .addCommand(listCommand(world))
    .addCommand(
      decideCommand(world, {
        verdict: "approve",
        about:
          "Says yes to what a run asks; with --input, to something else instead, or with what it asks for.",
        examples: ["inbox approve support-7", `inbox approve support-7 call-1-1 --input '{"euros":20}'`],
      }),
    )
    .addCommand(
      decideCommand(world, {
        verdict: "reject",
        about: "Says no to what a run asks.",
        examples: [`inbox reject support-7 --note "Not covered"`],
      }),
    );
}

function listCommand(world: World): Command {
  const command = connectedCommand({
    name: "list",
    about: "Lists what waits for a person.",
    examples: ["inbox list", "inbox list --machine support --json", "inbox list --watch"],
  });
  return command
    .option("--machine <id>", "of this machine")
    .option("--watch", "goes on, with a line for every decision that comes")
    .action(
      looking(world, async (client, given) => {
        const machine = textOf(given, "machine");
        const query = machine === undefined ? {} : { machine };
        const decisions = await readInbox(client, query);
        if (given.watch === true && given.json === true)
          for (const one of decisions) tell(world, given, one, () => []);
        else
          tell(world, given, decisions, () =>
            decisions.length === 0
              ? ["Nothing waits for a person."]
              : tableOf(["RUN", "DECISION", "ASKED", "SINCE", "DUE", "INPUT"], decisions.map(cellsOf)),
          );
        if (given.watch !== true) return;
        for await (const one of decisionsToCome(client, query, { known: decisions, signal: world.stop }))
          world.terminal.data(given.json === true ? JSON.stringify(one) : cellsOf(one).map(plain).join("  "));
      }),
    );
}

const cellsOf = (one: Decision): Cell[] => [
  ...[one.run, one.decision, one.asked, timeText(one.since), timeText(one.due) ?? "-"],
  shortJson(one.input, 60),
];

interface Coming {
  readonly known: readonly Decision[];
  readonly signal: AbortSignal;
}

/** Decisions that were not known, each once, as runs come to ask. */
async function* decisionsToCome(
  client: Client,
  query: { readonly machine?: string },
  { known, signal }: Coming,
): AsyncGenerator<Decision> {
  const nameOf = ({ run, decision }: Decision) => JSON.stringify([run, decision]);
  const told = new Set(known.map(nameOf));
  for await (const { type, data } of client.steps.follow({}, { signal })) {
    if (type !== "gap" && !data.needsPerson) continue;
    for (const one of await readInbox(client, type === "gap" ? query : { ...query, run: data.run })) {
      if (told.has(nameOf(one))) continue;
      told.add(nameOf(one));
      yield one;
    }
  }
}

async function readInbox(
  client: Client,
  query: { readonly machine?: string; readonly run?: string },
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.inbox.list({ ...query, ...(cursor === undefined ? {} : { cursor }) });
    decisions.push(...page.decisions);
    cursor = page.next;
    if (cursor === undefined) return decisions;
  }
}

interface Deciding {
  readonly verdict: "approve" | "reject";
  readonly about: string;
  readonly examples: readonly string[];
}

function decideCommand(world: World, { verdict, about, examples }: Deciding): Command {
  const command = addActor(connectedCommand({ name: verdict, about, examples }))
    .argument("<run>", "the run that asks")
    .argument("[decision]", "which decision; the only one unless given")
    .option("--note <text>", "words that go with it");
  if (verdict === "approve")
    command.option(
      "--input <json>",
      "what the tool is called with instead, or what an approval is to bring along",
    );
  return command.action(
    connected(world, async (client, given, run: string, decision: string | undefined) => {
      const [note, input] = [textOf(given, "note"), textOf(given, "input")];
      const asked = await readInbox(client, { run });
      const named = decision ?? onlyOf(run, asked);
      const decided = await client.inbox.decide({
        ...{ run, decision: named, verdict: input === undefined ? verdict : withInput(asked, named) },
        ...(note === undefined ? {} : { note }),
        ...(input === undefined ? {} : { input: jsonOf("--input", input) }),
      });
      // Not every server tells which way it was decided.
      const before = decided.isRepeat ? (decided as { verdict?: Verdict }).verdict : undefined;
      const isOther = before !== undefined && before !== verdict;
      if (decided.outcome === "refused" || isOther) world.end(exit.failed);
      const words = decided.isRepeat
        ? `it was decided before${isOther ? `, the other way: ${before}` : ""}`
        : `${decided.outcome} at checkpoint ${decided.seq}`;
      tell(world, given as Given, decided, () => [`${plain(run)} ${plain(decided.decision)}: ${words}`]);
    }),
  );
}

/** What is said with an input: a tool call is edited; an approval is approved, and brings it along. */
function withInput(asked: readonly Decision[], named: string): Verdict {
  return asked.find(({ decision }) => decision === named)?.kind === "approval" ? "approve" : "edit";
}

function onlyOf(run: string, decisions: readonly Decision[]): string {
  const [only] = decisions;
  if (only === undefined) throw misused(`The run ${run} asks nothing; see holdfast inbox list`);
  if (decisions.length === 1) return only.decision;
  const names = decisions.map(({ decision }) => decision).join(", ");
  throw misused(`The run ${run} asks more than one thing; say which: ${names}`);
}
