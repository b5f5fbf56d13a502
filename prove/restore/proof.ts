/**
 * A restore rehearsed: a server that archives its log, a base backup made under load, a named moment, more load, and then
 * damage that every copy would have too: a dropped table. The base backup and the archive make another server as it was
 * at the moment, which the production runtime opens.
 *
 * R1. Whatever was acknowledged before the moment is there, by the rules of `failover/judge.ts`. R2. Nothing is there that
 * was sent after the moment.
 */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, isHoldfastError, type Runtime } from "holdfast";
import { postgres } from "holdfast/postgres";
import { Node, pause } from "../../test/postgres/cluster.ts";
import { Crew, type Told } from "../failover/crew.ts";
import { judge } from "../failover/judge.ts";
import { Ledger } from "../kill/ledger.ts";
import { machineEntries, machines } from "../kill/machines.ts";

export interface RestoreOptions {
  /** How many events are acknowledged before the moment, half of them before the base backup. */
  readonly events: number;
  readonly workers: number;
  /** Where the servers may be. */
  readonly folder: string;
  /** What goes wrong on purpose: only the base backup is restored, or a later moment. */
  readonly plant?: "early" | "late" | undefined;
  readonly progress: (text: string) => void;
}

export interface RestoreResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** Only end what hangs. */
const [patienceMs, endMs] = [120_000, 30_000];

/** The named moment as the ledger had it. */
interface Moment {
  /** Whatever was acknowledged by then is to be there. */
  readonly ledger: Ledger;
  readonly from: number;
  /** Whatever was sent from then on is not to be there. */
  readonly until: number;
}

/** Works, marks the moment, damages, restores and judges. */
export async function proveRestore(options: RestoreOptions): Promise<RestoreResult> {
  const { folder, plant, progress } = options;
  chmodSync(folder, 0o755);
  const server = await Node.in(join(folder, "server"));
  const restored = await Node.in(join(folder, "restored"));
  const archive = server.makeFolder("archive");
  try {
    await server.create();
    const keep = `test ! -f ${archive}/%f && cp %p ${archive}/%f`;
    server.configure({ archive_mode: "on", archive_command: keep });
    await server.start();
    const crew = new Crew(server.url);
    const base = join(restored.folder, "base");
    const moment = await live(options, crew, { server, restored, base });
    progress("damaged; restoring");
    const began = Date.now();
    await restored.adopt(base);
    const bringBack = `cp ${archive}/%f %p`;
    const target =
      plant === "early" ? { recovery_target: "immediate" } : { recovery_target_name: plant ?? "moment" };
    restored.recover({ restore_command: bringBack, recovery_target_action: "promote", ...target });
    await restored.start();
    await restored.until("SELECT NOT pg_is_in_recovery()");
    await serve(restored.url);
    const restoreMs = Date.now() - began;
    progress(`in service after ${restoreMs} ms; judging`);
    return await conclude(restored.url, crew, moment, { restoreMs });
  } finally {
    await Promise.all([server.stop(), restored.stop()]);
  }
}

interface Servers {
  readonly server: Node;
  readonly restored: Node;
  /** Where the base backup goes. */
  readonly base: string;
}

/** The life of the server until its damage is archived. */
async function live(
  { events, workers, progress }: RestoreOptions,
  crew: Crew,
  { server, restored, base }: Servers,
): Promise<Moment> {
  const reach = async (count: number) => {
    if (!(await crew.hasAcked(count, patienceMs)))
      throw new Error(`the workers got no further than ${crew.ledger.ackedCount}: ${crew.ledger.problems}`);
    progress(`${crew.ledger.ackedCount} acknowledged`);
  };
  try {
    for (let worker = 0; worker < workers; worker++) crew.start(String.fromCharCode(97 + worker));
    await reach(events / 2);
    await restored.copy(server, base);
    await reach(crew.ledger.ackedCount + events / 2);
    const ledger = copyOf(crew.ledger);
    const from = Date.now();
    await server.query("SELECT pg_create_restore_point('moment')");
    const until = Date.now();
    await reach(crew.ledger.ackedCount + events / 2);
    await server.query("SELECT pg_create_restore_point('late')");
    await crew.end(endMs);
    await server.query("DROP TABLE holdfast.entry CASCADE");
    const [row] = await server.query("SELECT pg_walfile_name(pg_switch_wal()) AS name");
    await server.until(`SELECT last_archived_wal >= '${row?.name}' FROM pg_stat_archiver`);
    return { ledger, from, until };
  } finally {
    await crew.end(endMs);
  }
}

/** What was heard so far; what is heard later does not change it. */
function copyOf({ acked, tools, posts, answered }: Ledger): Ledger {
  const copy = new Ledger();
  for (const [kind, numbers] of acked) copy.acked.set(kind, new Set(numbers));
  for (const [key, calls] of tools) copy.tools.set(key, calls);
  for (const [key, starts] of posts) copy.posts.set(key, starts);
  for (const [key, at] of answered) copy.answered.set(key, at);
  return copy;
}

/** The first event that is acknowledged again: from here on there is service. */
async function serve(url: string): Promise<void> {
  const runtime = await opened(url);
  const run = await runtime.start(machines.count as never, { id: "count-again-0" });
  await run.send("add" as never, 0 as never, { key: "add 0" });
  await runtime.close();
}

async function opened(url: string): Promise<Runtime> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await createRuntime({ store: postgres(url), machines: machineEntries(() => {}) });
    } catch (error) {
      // Whoever had the store at the moment is gone; its lease is not over yet.
      if (!isHoldfastError(error) || error.code !== "STORE_OWNED" || Date.now() > until) throw error;
      await pause(100);
    }
  }
}

async function conclude(
  url: string,
  crew: Crew,
  { ledger, from, until }: Moment,
  times: Readonly<Record<string, number>>,
): Promise<RestoreResult> {
  // Tools cannot be restored: those begun after the moment may be begun again, those before it not.
  for (const [key] of crew.ledger.posts) if (!ledger.posts.has(key)) ledger.posts.set(key, 0);
  for (const [key] of crew.ledger.tools) if (!ledger.tools.has(key)) ledger.tools.set(key, 0);
  const before = ledger.ackedCount;
  const verdict = await judge(url, ledger);
  const { newest, problems } = await compare(url, [...crew.told.values()], until);
  return {
    problems: [...crew.ledger.problems, ...verdict.problems.map((problem) => `R1: ${problem}`), ...problems],
    figures: {
      ...{ "acked before the moment": before, "acked after it": crew.ledger.ackedCount - before },
      ...verdict.figures,
      "ms to restore": times.restoreMs as number,
      "ms from the newest restored event to the moment": Math.max(0, from - newest),
    },
  };
}

/** Looks for what was sent after the moment; when the newest event that is there was acknowledged. */
async function compare(
  url: string,
  told: readonly Told[],
  until: number,
): Promise<{ readonly newest: number; readonly problems: string[] }> {
  const runtime = await opened(url);
  const problems: string[] = [];
  let newest = 0;
  try {
    for (const [name, events] of Map.groupBy(told, ({ run }) => run)) {
      const taken = await takenBy(runtime, name);
      for (const { event, n, sentAt, ackedAt = 0 } of events) {
        if (!taken.has(`${event} ${n}`)) continue;
        if (sentAt > until)
          problems.push(`R2: ${name} has ${event} ${n}, sent ${sentAt - until} ms after the moment`);
        newest = Math.max(newest, ackedAt);
      }
    }
    return { newest, problems };
  } finally {
    await runtime.close();
  }
}

/** The numbered events that a run has taken; none if there is no such run. */
async function takenBy(runtime: Runtime, name: string): Promise<ReadonlySet<string>> {
  const taken = new Set<string>();
  try {
    const run = await runtime.run(name);
    for await (const { event } of run.journal()) taken.add(`${event.type} ${event.data}`);
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "RUN_UNKNOWN") throw error;
  }
  return taken;
}
