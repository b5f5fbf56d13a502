/**
 * `holdfast step`: a run taken through its events one at a time, in the terminal. The run is parked for that, durably: whoever
 * leaves finds it where they left it. Without a terminal it advances by so many events and tells what came of it.
 */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { Client } from "../client/client.ts";
import { countOption, type Given, jsonOf, misused } from "./arguments.ts";
import { addActor, connected, runCommand, tell } from "./connect.ts";
import { stepLine } from "./runs/show.ts";
import { plain, shortJson } from "./table.ts";
import { describe } from "./terminal.ts";
import type { World } from "./world.ts";

export function stepCommand(world: World): Command {
  const command = runCommand({
    name: "step",
    about: "Takes a run through its events one at a time. It stays parked meanwhile, also when you leave.",
    examples: ["step trip-42", "step trip-42 --events 1 --json", "step trip-42 --go"],
  });
  return addActor(command)
    .addOption(countOption("--events <n>", "lets it take so many events, and asks nothing"))
    .option("--go", "lets it go on by itself again, and asks nothing")
    .action(connected(world, (client, given, run: string) => step(client, given, run, world)));
}

async function step(client: Client, given: Given, run: string, world: World): Promise<void> {
  const before = await client.runs.show({ run });
  if (given.go === true) {
    const after = before.status === "parked" ? await client.runs.retry({ run }) : before;
    return tell(world, given, after, () => [plain(after.waiting.line)]);
  }
  const parked = before.status === "active" ? await client.runs.pause({ run }) : before;
  const events = given.events as number | undefined;
  if (events !== undefined || !world.terminal.isInteractive) {
    if (events !== undefined) await client.runs.advance({ run, events });
    return showSince(client, given, { run, from: parked.seq + 1 }, world);
  }
  await converse(client, given, { run, from: parked.seq + 1 }, world);
}

interface Place {
  readonly run: string;
  /** The first checkpoint that was not shown yet. */
  readonly from: number;
}

/** Shows what the run did since, and where it is. */
async function showSince(client: Client, given: Given, { run, from }: Place, world: World): Promise<void> {
  const { entries } = await client.runs.journal({ run, from });
  const { state } = await client.runs.state({ run });
  const detail = await client.runs.show({ run });
  tell(world, given, { run: detail, entries, context: state.context }, () => [
    ...entries.filter(({ event }) => event.kind !== "platform").map(stepLine),
    `${plain(state.configuration.join(", "))}  ${plain(shortJson(state.context, 200))}`,
    plain(detail.waiting.line),
  ]);
}

async function converse(client: Client, given: Given, { run, from }: Place, world: World): Promise<void> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  world.stop.addEventListener("abort", () => asking.close(), { once: true });
  let next = from;
  await showSince(client, given, { run, from: next }, world);
  for (;;) {
    const answer = await asking
      .question("[enter] take an event · s TYPE [JSON] send one · g go on · q leave it > ")
      .catch(() => "q");
    const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(answer) ?? [];
    if (word === "q") break;
    try {
      next = (await client.runs.show({ run })).seq + 1;
      if (word === "g") await client.runs.retry({ run });
      else if (word === "s") await sendLine(client, run, rest);
      else await takeOne(client, { run, from: next }, world);
      await showSince(client, given, { run, from: next }, world);
      if (word === "g" || (await client.runs.show({ run })).completedAt !== undefined) break;
    } catch (error) {
      // A slip of the fingers, or a server that is away for a moment: the run is held, and the person asked again.
      world.terminal.note(describe(error));
    }
  }
  asking.close();
  await tellHeld(client, run, world);
}

/** Whoever leaves a run that is held is told so, and how it is let go. */
async function tellHeld(client: Client, run: string, { terminal }: World): Promise<void> {
  const { status } = await client.runs.show({ run });
  if (status === "parked")
    terminal.note(`${plain(run)} stays parked; holdfast step ${plain(run)} --go lets it go on`);
}

/** Lets it take one event, and waits until it has: not for ever, since one may have to come first. */
async function takeOne(client: Client, { run, from }: Place, { stop }: World): Promise<void> {
  await client.runs.advance({ run });
  const signal = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)]);
  try {
    for await (const { data } of client.runs.follow({ run, from }, { signal }))
      if (data.status === "parked") return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** How long a person waits for a prompt. */
const patienceMs = 2_000;

async function sendLine(client: Client, run: string, line: string): Promise<void> {
  const [, type = "", data = ""] = /^(\S*)\s*(.*)$/s.exec(line) ?? [];
  if (type === "") throw misused("Say which event to send, as in: s approve, or s add 5");
  const event = { type, ...(data === "" ? {} : { data: jsonOf("The data", data) }) };
  await client.runs.send({ run, events: [event] });
}
