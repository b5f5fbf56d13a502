/**
 * One good request for every route, with the least role that may make it. The roles stand here once more, apart from the
 * contract, so that a route that is opened by mistake differs from what is written here. A route without a row does not
 * compile.
 */
import type { Client } from "../../src/client/index.ts";
import type { Role } from "../../src/security/policy.ts";
import type { InputOf, RouteName } from "../../src/server/index.ts";

/** What the requests are about; each name is of something that is there. */
export interface Facts {
  readonly counter: string;
  readonly parked: string;
  readonly expense: string;
  readonly agent: string;
  /** An agent that nobody has said anything to. */
  readonly idle: string;
  readonly planner: string;
  readonly board: string;
  readonly letter: number;
  readonly otherLetter: number;
  readonly key: string;
  /** Makes names that nobody has. */
  readonly suffix: string;
}

type Row<Name extends RouteName> = readonly [Role | "nobody", (facts: Facts) => InputOf<Name>];

const machineSource = (id: string) => ({
  id,
  initial: "a",
  states: { a: { on: { go: "b" } }, b: { type: "final" } },
});

export const exemplars: { readonly [Name in RouteName]: Row<Name> } = {
  "machines.list": ["viewer", () => ({})],
  "machines.show": ["viewer", () => ({ machine: "counter" })],
  "machines.version": ["viewer", () => ({ machine: "helper", version: 1 })],
  "machines.upload": ["developer", ({ suffix }) => ({ source: machineSource(`up-${suffix}`) })],
  "machines.mark": ["developer", () => ({ machine: "caller", version: 1, status: "deprecated" })],
  "runs.start": [
    "developer",
    ({ suffix }) => ({ machine: "counter", run: `new-${suffix}`, input: { from: 1 } }),
  ],
  "runs.list": ["viewer", () => ({ status: "active", limit: 5 })],
  "runs.bulk": ["operator", ({ parked }) => ({ action: "retry", runs: [parked], dryRun: true })],
  "runs.show": ["viewer", ({ counter }) => ({ run: counter })],
  "runs.state": ["viewer", ({ counter }) => ({ run: counter, at: 1 })],
  "runs.send": [
    "operator",
    ({ counter }) => ({ run: counter, events: [{ type: "add", data: 1 }], wait: "handled" }),
  ],
  "runs.ask": ["operator", ({ counter }) => ({ run: counter, type: "read" })],
  "runs.pause": ["operator", ({ counter }) => ({ run: counter })],
  "runs.retry": ["operator", ({ parked }) => ({ run: parked })],
  "runs.advance": ["operator", ({ counter }) => ({ run: counter, events: 2 })],
  "runs.breakpoints": ["operator", ({ counter }) => ({ run: counter, breakpoints: [{ state: "closed" }] })],
  "runs.journal": ["viewer", ({ counter }) => ({ run: counter })],
  "runs.chunks": ["viewer", ({ agent }) => ({ run: agent, key: "1.0" })],
  "runs.follow": ["viewer", ({ counter }) => ({ run: counter, from: 1 })],
  "runs.travel": ["viewer", ({ counter }) => ({ run: counter, at: 1, kind: "rollback" })],
  "runs.preview": ["developer", ({ counter }) => ({ run: counter, at: 1, kind: "fork", context: { n: 3 } })],
  "runs.rollback": ["developer", ({ expense }) => ({ run: expense, to: 1 })],
  "runs.fork": [
    "developer",
    ({ counter, suffix }) => ({ run: counter, at: 1, fork: `fork-${suffix}`, context: { n: 9 } }),
  ],
  "runs.diff": ["viewer", ({ counter }) => ({ run: counter, from: 1, to: 2 })],
  "runs.changed": ["viewer", ({ counter }) => ({ run: counter, path: "$.n" })],
  "runs.compare": ["viewer", ({ counter, parked }) => ({ one: counter, other: parked })],
  "runs.conversation": ["viewer", ({ agent }) => ({ run: agent })],
  "runs.plan": ["viewer", ({ planner }) => ({ run: planner })],
  "runs.board": ["viewer", ({ board }) => ({ run: board })],
  "inbox.list": ["viewer", () => ({})],
  "inbox.decide": ["operator", ({ agent }) => ({ run: agent, decision: "call-2", verdict: "approve" })],
  "runs.say": ["operator", ({ idle, suffix }) => ({ run: idle, text: "Go on", id: `said-${suffix}` })],
  "runs.cancel": ["operator", ({ parked }) => ({ run: parked })],
  "steps.follow": ["viewer", () => ({})],
  "operations.overview": ["viewer", () => ({})],
  "operations.workers": ["viewer", () => ({})],
  "deadLetters.list": ["viewer", () => ({})],
  "deadLetters.redeliver": ["operator", ({ letter, expense }) => ({ number: letter, to: expense })],
  "deadLetters.discard": ["operator", ({ otherLetter }) => ({ number: otherLetter })],
  "keys.list": ["admin", () => ({})],
  "keys.create": ["admin", ({ suffix }) => ({ name: `key ${suffix}`, role: "viewer", expiresInMs: 60_000 })],
  "keys.revoke": ["admin", ({ key }) => ({ key })],
  "me.show": ["viewer", () => ({})],
  "health.alive": ["nobody", () => ({})],
  "health.ready": ["nobody", () => ({})],
  "health.metrics": ["viewer", () => ({})],
  "health.openapi": ["nobody", () => ({})],
};

/** Makes what the requests are about, as an admin. */
export async function furnish(client: Client, suffix: string): Promise<Facts> {
  const name = (what: string) => `${what}-${suffix}`;
  const started = async (machine: string, what: string, input?: unknown) => {
    await client.runs.start({
      machine,
      run: name(what),
      ...(input === undefined ? {} : { input: input as never }),
    });
    return name(what);
  };
  const counter = await started("counter", "counter");
  await client.runs.send({
    run: counter,
    events: [{ type: "add", data: 3 }, { type: "tell" }, { type: "tell" }],
  });
  const parked = await started("counter", "parked");
  await client.runs.pause({ run: parked });
  const expense = await started("expense", "expense");
  await client.runs.send({ run: expense, events: [{ type: "approve" }] });
  const agent = await started("helper", "agent");
  await client.runs.say({ run: agent, text: "Refund me", id: name("hello") });
  const idle = await started("helper", "idle");
  const planner = await started("planner", "planner", { goal: "leap" });
  const board = await started("board", "board");
  await until(async () => (await client.inbox.list({ run: agent })).decisions.length > 0);
  await until(async () => (await client.runs.plan({ run: planner })).plan.tasks.length > 0);
  await until(async () => (await client.deadLetters.list()).letters.length > 1);
  const letters = (await client.deadLetters.list()).letters.map(({ number }) => number);
  const { id: key } = await client.keys.create({ name: name("key"), role: "viewer" });
  return {
    ...{ counter, parked, expense, agent, idle, planner, board, key, suffix },
    ...{ letter: letters.at(-1) as number, otherLetter: letters.at(-2) as number },
  };
}

/** Waits for what the runtime does by itself; nothing here depends on how long. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((soon) => setTimeout(soon, 5));
}
