/** `holdfast runs start`, `send`, `cancel` and `retry`: what is done to a run from outside. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type Given, jsonOf, textOf } from "../arguments.ts";
import { addActor, connected, connectedCommand, runCommand, tell } from "../connect.ts";
import { exit } from "../exit.ts";
import { plain } from "../table.ts";
import type { World } from "../world.ts";

export function startCommand(world: World): Command {
  const command = connectedCommand({
    name: "start",
    about: "Starts a run, or attaches to the one of the same id, machine and input.",
    examples: [`runs start booking --id trip-42 --input '{"goal":"NYC","budget":500}'`],
  });
  return addActor(command)
    .argument("<machine>", "the machine's id")
    .option("--id <run>", "the run's id; a new one unless given")
    .option("--input <json>", "what it is given")
    .option("--subject <name>", "whose data it holds")
    .action(
      connected(world, async (client, given, machine: string) => {
        const input = textOf(given, "input");
        const [run, subject] = [textOf(given, "id"), textOf(given, "subject")];
        const detail = await client.runs.start({
          machine,
          ...(input === undefined ? {} : { input: jsonOf("--input", input) }),
          ...(run === undefined ? {} : { run }),
          ...(subject === undefined ? {} : { subject }),
        });
        tell(world, given, detail, () => [`${plain(detail.run)}: ${plain(detail.waiting.line)}`]);
      }),
    );
}

export function sendCommand(world: World): Command {
  const command = runCommand({
    name: "send",
    about: "Sends an event; ends when it is durable, or once it was taken.",
    examples: [
      `runs send trip-42 choose '{"flight":"DL123"}'`,
      "runs send trip-42 approve --wait --key click-7",
    ],
  });
  return addActor(command)
    .argument("<type>", "the event's type")
    .argument("[data]", "its data, as JSON")
    .option("--key <name>", "a repeated key is the same event; a new one unless given")
    .option("--wait", "waits until it was taken, and tells what became of it; ends with 1 if it was refused")
    .action(
      connected(world, async (client, given, run: string, type: string, data: string | undefined) => {
        const key = textOf(given, "key") ?? randomUUID();
        const event = { type, key, ...(data === undefined ? {} : { data: jsonOf("The data", data) }) };
        const wait = given.wait === true ? "handled" : "durable";
        const sent = await client.runs.send({ run, events: [event], wait });
        const handled = sent.events[0]?.handled;
        if (handled?.outcome === "refused") world.end(exit.failed);
        const why = handled?.error === undefined ? "" : `: ${plain(handled.error.message)}`;
        tell(world, given, sent, () => [
          handled === undefined ? "durable" : `${handled.outcome} at checkpoint ${handled.seq}${why}`,
        ]);
      }),
    );
}

export function cancelCommand(world: World): Command {
  return manyCommand(world, {
    action: "cancel",
    about: "Ends runs: exit actions run, what they wait for is cancelled, what they did is compensated.",
    examples: ["runs cancel trip-42", "runs cancel trip-1 trip-2 --dry-run"],
  });
}

export function retryCommand(world: World): Command {
  return manyCommand(world, {
    action: "retry",
    about: "Brings parked runs back; a result they could not take is given to them again.",
    examples: ["runs retry trip-42"],
  });
}

interface Many {
  readonly action: "cancel" | "retry";
  readonly about: string;
  readonly examples: readonly string[];
}

function manyCommand(world: World, { action, about, examples }: Many): Command {
  return addActor(connectedCommand({ name: action, about, examples }))
    .argument("<runs...>", "ids of runs")
    .option("--dry-run", "only tells what would be done")
    .action(
      connected(world, async (client, given: Given, runs: string[]) => {
        const done = await client.runs.bulk({ action, runs, dryRun: given.dryRun === true });
        if (done.failed > 0) world.end(exit.failed);
        tell(world, given, done, () =>
          done.runs.map(({ run, outcome, error }) => {
            const words = {
              done: `${action} done`,
              would: `would ${action}`,
              skipped: "nothing to do",
              failed: "failed",
            };
            return `${plain(run)}: ${words[outcome]}${error === undefined ? "" : `, ${plain(error.message)}`}`;
          }),
        );
      }),
    );
}
