/** `holdfast runs list`: the runs that fit, the newest first. */
import type { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { RunStatus } from "../../server/contract/runs.ts";
import type { InputOf, RunSummary, StepNews } from "../../server/contract.ts";
import { countOption, type Given, misused, pairOption, pairsOf, textOf } from "../arguments.ts";
import { connectedCommand, looking, tell } from "../connect.ts";
import { plain, tableOf, timeText } from "../table.ts";
import type { World } from "../world.ts";

const statuses: readonly string[] = RunStatus.options;

export function listCommand(world: World): Command {
  const command = connectedCommand({
    name: "list",
    about: "Lists runs, the newest first.",
    examples: [
      "runs list --status active",
      "runs list --machine refund --where city=Oslo --limit 20",
      "runs list --stuck --json",
    ],
  });
  return command
    .option("--status <status>", statuses.join(", "))
    .option("--machine <id>", "of this machine")
    .option("--subject <name>", "whose data they hold")
    .option("--waiting", "those that wait for a person")
    .option("--stuck", "those that are parked or overdue")
    .addOption(pairOption("--where <name=value>", "with this attribute"))
    .addOption(countOption("--limit <n>", "how many at most").default(50))
    .option("--watch", "goes on, with a line for every step of such runs that comes")
    .action(looking(world, (client, given) => list(client, given, world)));
}

async function list(client: Client, given: Given, world: World): Promise<void> {
  const runs = await readRuns(client, queryOf(given), given.limit as number);
  if (given.watch === true && given.json === true) for (const run of runs) tell(world, given, run, () => []);
  else
    tell(world, given, runs, () =>
      runs.length === 0
        ? ["No run fits. Start one with: holdfast runs start MACHINE"]
        : tableOf(
            ["RUN", "MACHINE", "STATUS", "SEQ", "UPDATED", "NOTE"],
            runs.map((run) => [
              ...[run.run, `${run.machine}@${run.version}`, run.status, run.seq],
              ...[timeText(run.updatedAt), noteOf(run)],
            ]),
          ),
    );
  if (given.watch === true) await watch(client, given, world);
}

/** So many of them, over as many pages as it takes. */
async function readRuns(client: Client, query: InputOf<"runs.list">, most: number): Promise<RunSummary[]> {
  const runs: RunSummary[] = [];
  for (let cursor: string | undefined; runs.length < most; ) {
    const limit = Math.min(most - runs.length, 100);
    const page = await client.runs.list({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
    runs.push(...page.runs);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  return runs;
}

function queryOf(given: Given): InputOf<"runs.list"> {
  const status = textOf(given, "status");
  if (status !== undefined && !statuses.includes(status))
    throw misused(`--status is ${status}; there are ${statuses.join(", ")}`);
  const where = pairsOf(given, "where").map(([name, value]): [string, string | number | boolean] => {
    if (typeof value !== "object") return [name, value];
    throw misused(`--where is ${name}=${JSON.stringify(value)}; a value is text, a number, true or false`);
  });
  const named = ["status", "machine", "subject"].flatMap((name) => {
    const text = textOf(given, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...(Object.fromEntries(named) as InputOf<"runs.list">),
    ...(given.waiting === true ? { waiting: "person" as const } : {}),
    ...(given.stuck === true ? { stuck: true } : {}),
    ...(where.length === 0 ? {} : { attributes: Object.fromEntries(where) }),
  };
}

function noteOf({ needsPerson, stuck, fork, parent }: RunSummary): string {
  if (needsPerson) return "waits for a person";
  if (stuck !== undefined) return stuck.why;
  if (fork !== undefined) return `fork of ${fork.run}@${fork.seq}`;
  return parent === undefined ? "" : `child of ${parent.run}`;
}

async function watch(client: Client, given: Given, { terminal, stop }: World): Promise<void> {
  const query = queryOf(given);
  for await (const { type, data } of client.steps.follow({}, { signal: stop })) {
    if (type === "gap") terminal.note("Some steps were missed.");
    else if (isAmong(data, query)) terminal.data(given.json === true ? JSON.stringify(data) : lineOf(data));
  }
}

/** Whether a run fits as it is after a step. How long it has been stuck no step tells. */
function isAmong(
  news: StepNews,
  { machine, subject, status, waiting, attributes = {} }: InputOf<"runs.list">,
) {
  return (
    (machine === undefined || machine === news.machine) &&
    (subject === undefined || subject === news.subject) &&
    (status === undefined || status === news.status) &&
    (waiting === undefined || news.needsPerson) &&
    Object.entries(attributes).every(([name, value]) => news.attributes[name] === value)
  );
}

const lineOf = ({ at, run, seq, event, configuration, status }: StepNews): string =>
  [timeText(at), run, seq, event, configuration.join(", "), status].map(plain).join("  ");
