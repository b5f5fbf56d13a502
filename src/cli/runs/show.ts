/** `holdfast runs show` and `runs tail`: one run as it is, as it was, and as it goes on. */
import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { isHoldfastError } from "../../errors.ts";
import type { AnswerOf, JournalEntry, RunDetail } from "../../server/contract.ts";
import { countOption, type Given } from "../arguments.ts";
import { connected, looking, runCommand, tell } from "../connect.ts";
import { fieldsOf, plain, shortJson, timeText } from "../table.ts";
import type { World } from "../world.ts";

export function showCommand(world: World): Command {
  const command = runCommand({
    name: "show",
    about: "Shows a run: where it is, what it waits for, what it knows.",
    examples: ["runs show trip-42", "runs show trip-42 --at 12 --json", "runs show trip-42 --watch"],
  });
  return command
    .addOption(countOption("--at <seq>", "as it was at this checkpoint"))
    .option("--watch", "shows it again whenever it has taken a step")
    .action(looking(world, (client, given, run: string) => show(client, given, run, world)));
}

async function show(client: Client, given: Given, run: string, world: World): Promise<void> {
  const once = async () => {
    const detail = await client.runs.show({ run });
    const at = given.at as number | undefined;
    const { state, seq } = await client.runs.state({ run, ...(at === undefined ? {} : { at }) });
    const last = await lastEvent(client, run, seq);
    tell(world, given, { ...detail, at: seq, last, state }, () => [
      ...linesOf(detail, state, seq, last),
      ...JSON.stringify(state.context, undefined, 2)
        .split("\n")
        .map((line) => `  ${line}`),
    ]);
  };
  await once();
  if (given.watch !== true) return;
  for await (const _ of client.runs.follow({ run }, { signal: world.stop })) await once();
}

type JournalEvent = JournalEntry["event"];

/** The event that led to a checkpoint, where the journal still has it. */
async function lastEvent(client: Client, run: string, seq: number): Promise<JournalEvent | undefined> {
  try {
    const { entries } = await client.runs.journal({ run, from: seq, limit: 1 });
    return entries.find((entry) => entry.seq === seq)?.event;
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "JOURNAL_PRUNED") throw error;
    return undefined;
  }
}

/** Of a checkpoint before the newest only what was true then, and on one line how the run is now. */
function linesOf(
  detail: RunDetail,
  state: AnswerOf<"runs.state">["state"],
  seq: number,
  event: JournalEvent | undefined,
): string[] {
  const { waiting, fork, parent, spent } = detail;
  const last = event && [event.type, ...bySender(event)].join(" ");
  if (seq !== detail.seq)
    return fieldsOf({
      run: detail.run,
      machine: `${state.machine}@${state.version}`,
      checkpoint: `${seq} of ${detail.seq}`,
      last,
      states: state.configuration.join(", "),
      created: timeText(detail.createdAt),
      now: detail.completedAt === undefined ? `${detail.status}, ${waiting.line}` : detail.status,
      fork: fork && `${fork.run}@${fork.seq}`,
      parent: parent?.run,
      context: " ",
    });
  return fieldsOf({
    run: detail.run,
    machine: `${detail.machine}@${detail.version}`,
    status: detail.status,
    checkpoint: seq,
    last,
    states: state.configuration.join(", "),
    waiting: waiting.line,
    created: timeText(detail.createdAt),
    updated: timeText(detail.updatedAt),
    completed: timeText(detail.completedAt),
    events: detail.nextEvents.map(({ type }) => type).join(", "),
    fork: fork && `${fork.run}@${fork.seq}`,
    parent: parent?.run,
    children: detail.children.map((child) => child.run).join(", "),
    spent: spent && shortJson(spent),
    output: detail.output === undefined ? undefined : shortJson(detail.output),
    reason: detail.reason && shortJson(detail.reason, 200),
    context: " ",
  });
}

export function tailCommand(world: World): Command {
  const command = runCommand({
    name: "tail",
    about: "Tells a run's steps, and those to come, until it has ended.",
    examples: ["runs tail trip-42", "runs tail trip-42 --from 1 --json | jq .event.type"],
  });
  return command
    .addOption(countOption("--from <seq>", "from this checkpoint on; the next one unless given"))
    .action(
      connected(world, async (client, given, run: string) => {
        const from = given.from as number | undefined;
        const input = { run, ...(from === undefined ? {} : { from }) };
        for await (const { data } of client.runs.follow(input, { signal: world.stop }))
          world.terminal.data(given.json === true ? JSON.stringify(data) : stepLine(data));
      }),
    );
}

const bySender = ({ by }: JournalEvent): string[] => (by === undefined ? [] : [`by ${plain(by)}`]);

/** A step on one line. */
export function stepLine({ seq, at, event, outcome, configuration, effects, error }: JournalEntry): string {
  const asked = effects.map(({ type, activity, machine }) => activity ?? machine ?? type).join(", ");
  return [
    `${String(seq).padStart(5)}  ${timeText(at)}  ${plain(event.type)}`,
    ...(event.data === undefined ? [] : [plain(shortJson(event.data, 60))]),
    ...bySender(event),
    `→ ${outcome === "taken" ? configuration.join(", ") : outcome}`,
    ...(asked === "" ? [] : [`(${plain(asked)})`]),
    ...(error === undefined ? [] : [plain(shortJson(error, 120))]),
  ].join(" ");
}
