/**
 * What does HTTP cost? Durable events through a server, singly and in batches of 50, beside a route that does nothing and
 * the runtime alone; idle streams by the thousand; the journal of a long run; and Studio scrubbing through one. The server is a
 * process of its own, the load another. See METHOD.md for how and what not.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions } from "./process.ts";
import { columns, median } from "./process.ts";
import type { HostMessage } from "./server/host.ts";
import { idleStreams, load, timed } from "./server/load.ts";
import { benchScrub } from "./server/scrub.ts";

interface Host {
  readonly url: string;
  ask<Answer>(question: object): Promise<Answer>;
  stop(): void;
}

async function beginHost(): Promise<Host> {
  const child = fork(fileURLToPath(new URL("./server/host.ts", import.meta.url)), [], {
    execArgv: ["--conditions=holdfast-source", "--expose-gc"],
  });
  const next = <Answer>() =>
    new Promise<Answer>((told) => child.once("message", (message) => told(message as Answer)));
  const { url } = await next<HostMessage>();
  return {
    url,
    ask: (question) => {
      const answer = next<never>();
      child.send(question);
      return answer;
    },
    stop: () => void child.kill("SIGTERM"),
  };
}

/** What `--only` can name, in the order in which it is asked. */
const parts = ["events", "streams", "journal", "scrub"] as const;

export async function benchServer({ rounds, quick, only }: BenchOptions): Promise<void> {
  const unknown = only.filter((name) => !parts.some((part) => part === name));
  if (unknown.length > 0) {
    console.error(`--only does not know ${unknown.join(", ")}; it knows ${parts.join(", ")}`);
    process.exit(2);
  }
  const isAsked = (part: (typeof parts)[number]) => only.length === 0 || only.includes(part);
  const host = await beginHost();
  const steps = quick ? 2_000 : 100_000;
  try {
    await host.ask({ what: "runs", count: connections });
    if (isAsked("events")) await benchEvents(host, rounds, quick ? 500 : 3_000);
    if (isAsked("streams")) await benchStreams(host, quick ? 200 : 5_000);
    if (isAsked("journal")) await benchJournal(host, steps);
    if (isAsked("scrub"))
      await benchScrub({
        ...{ url: host.url, steps, times: quick ? 2 : 20 },
        makeRun: () => host.ask({ what: "patrol", steps }),
      });
  } finally {
    host.stop();
  }
}

/** The same number of connections, each with a run of its own, sends as fast as it is answered. */
const connections = 32;

async function benchEvents({ url, ask }: Host, rounds: number, ms: number): Promise<void> {
  const ways = ["no-op", "single", "batch", "runtime"] as const;
  const rates: Record<(typeof ways)[number], number[]> = { "no-op": [], single: [], batch: [], runtime: [] };
  const late: Record<string, number[]> = { "no-op": [], single: [], batch: [], runtime: [] };
  // A round of everything first, so that nobody is measured cold.
  for (let round = -1; round < rounds; round++)
    for (const way of ways) {
      console.error(`round ${round + 1} of ${rounds}: ${way} …`);
      const told =
        way === "runtime"
          ? await ask<{ perSecond: number; p99: number }>({ what: "send", ms, connections })
          : await load({ url, way, ms, connections });
      if (round < 0) continue;
      rates[way].push(told.perSecond);
      late[way]?.push(told.p99);
    }
  const noOp = median(rates["no-op"]);
  const row = (way: (typeof ways)[number], name: string, eventsEach: number) => {
    const rate = median(rates[way]);
    return [
      name,
      `${Math.round(rate)}/s`,
      eventsEach === 0 ? "" : `${Math.round(rate * eventsEach)}/s`,
      `${median(late[way] ?? []).toFixed(1)} ms`,
      `${((100 * rate) / noOp).toFixed(0)} %`,
    ];
  };
  const rows = [
    ["32 connections", "requests", "durable events", "p99", "of the no-op route"],
    row("no-op", "a route that does nothing", 0),
    row("single", "one event a request", 1),
    row("batch", "50 events a request", 50),
    row("runtime", "the runtime alone, no HTTP", 1),
  ];
  console.log(`\n${columns(rows)}`);
}

async function benchStreams({ url, ask }: Host, count: number): Promise<void> {
  console.error(`${count} streams …`);
  const before = await ask<{ bytes: number }>({ what: "memory" });
  const streams = await idleStreams(url, count);
  const after = await ask<{ bytes: number }>({ what: "memory" });
  const arrived = streams.nextStep();
  await ask({ what: "step" });
  const { all, ms } = await arrived;
  streams.close();
  const each = (after.bytes - before.bytes) / count / 1_024;
  console.log(
    `\n${count} idle streams: ${each.toFixed(1)} KB each in the server; a step came to ${all} of them within ${ms.toFixed(0)} ms`,
  );
}

async function benchJournal({ url, ask }: Host, steps: number): Promise<void> {
  console.error(`a run of ${steps} steps …`);
  await ask({ what: "long", steps });
  const page = async (path: string) => {
    const first = await timed(url, path);
    const others: number[] = [];
    for (let index = 0; index < 9; index++) others.push(await timed(url, path));
    return [first, median(others)] as const;
  };
  const rows = [[`a run of ${steps} steps`, "first", "again"]];
  for (const [name, path] of [
    ["the run", "/v1/runs/long"],
    ["its newest 200 entries", `/v1/runs/long/journal?before=${steps + 1}&limit=200`],
    ["200 from the middle", `/v1/runs/long/journal?from=${steps / 2}&limit=200`],
    ["its state in the middle", `/v1/runs/long/state?at=${steps / 2}`],
  ] as const)
    rows.push([name, ...(await page(path)).map((ms) => `${ms.toFixed(0)} ms`)]);
  console.log(`\n${columns(rows)}`);
}
