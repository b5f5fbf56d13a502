/** The routes of runs: starting, finding, showing and steering them. */
import { describeError } from "../../core/describe-error.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Handled } from "../../runtime/live/live-run.ts";
import { type Actor, isPlatformMachine } from "../../runtime/name.ts";
import type { Outgoing, Receipt, StartOptions } from "../../runtime/run.ts";
import { isAllowed } from "../../security/policy.ts";
import type { AnswerOf, InputOf } from "../contract.ts";
import { requestError } from "../problem-answer.ts";
import { listRuns, matchingRuns } from "../run-list.ts";
import { detailOf, summaryOf } from "../run-view.ts";
import { handledWithin } from "../within.ts";
import { actorOf, findRun, type Handlers, type Scope, seeRun, type World } from "../world.ts";

type RunHandlers = Pick<
  Handlers,
  | ("runs.start" | "runs.list" | "runs.show" | "runs.state" | "runs.send" | "runs.ask" | "runs.bulk")
  | ("runs.cancel" | "runs.retry" | "runs.pause" | "runs.advance" | "runs.breakpoints")
>;

export function runHandlers(world: World): RunHandlers {
  const show = async (run: string, scope: Scope) => detailOf(world, await seeRun(world, scope, run));
  const steer = async (
    run: string,
    scope: Scope,
    act: (run: Awaited<ReturnType<typeof findRun>>, actor: Actor) => Promise<void>,
  ) => {
    await act(await findRun(world, scope, run), actorOf(scope));
    return show(run, scope);
  };
  return {
    "runs.start": (input, scope) => start(world, input, scope),
    "runs.list": async (input, { principal }) => {
      const { heads, next } = await listRuns(world, principal.tenant, input);
      const now = world.clock.now();
      return { runs: heads.map((head) => summaryOf(head, now)), ...(next === undefined ? {} : { next }) };
    },
    "runs.show": ({ run }, scope) => show(run, scope),
    "runs.state": async ({ run, at }, scope) => {
      const { head, state } = await seeRun(world, scope, run);
      const seq = at ?? head.seq;
      const shown = seq === head.seq ? state : (await world.past.at(head, seq)).state;
      return { run, seq, state: shown as never };
    },
    "runs.send": (input, scope) => send(world, input, scope),
    "runs.ask": async ({ run, type, data, key, timeoutMs = limits.askMsMax }, scope) => {
      const found = await findListener(world, scope, run);
      const chosen = key ?? scope.idempotencyKey;
      const options = {
        ...{ timeout: timeoutMs, ...actorOf(scope) },
        ...(chosen === undefined ? {} : { key: chosen }),
      };
      return { reply: await found.ask(type, data, options) };
    },
    "runs.cancel": ({ run }, scope) => steer(run, scope, (found, actor) => found.cancel(actor)),
    "runs.retry": ({ run }, scope) => steer(run, scope, (found, actor) => found.retry(actor)),
    "runs.pause": ({ run }, scope) => steer(run, scope, (found, actor) => found.pause(actor)),
    "runs.advance": ({ run, events = 1 }, scope) =>
      steer(run, scope, (found, actor) => found.advance(events, actor)),
    "runs.breakpoints": ({ run, breakpoints }, scope) =>
      steer(run, scope, (found, actor) => found.breakpoints(breakpoints, actor)),
    "runs.bulk": (input, scope) => bulk(world, input, scope),
  };
}

async function start(
  world: World,
  input: InputOf<"runs.start">,
  scope: Scope,
): Promise<AnswerOf<"runs.start">> {
  const { machine, version, run, singleton, input: given, subject, attributes, limits: allowed } = input;
  const { tenant } = scope.principal;
  const { machine: bound } = world.runtime.machines.read(machine, version);
  const id = run ?? (singleton === undefined ? scope.idempotencyKey : undefined);
  if (run !== undefined && singleton !== undefined)
    throw requestError([{ path: "body.singleton", message: "is given beside a run's id; give one of them" }]);
  if (singleton !== undefined && scope.idempotencyKey !== undefined)
    throw requestError([keyProblem("a singleton: its own key says whether it is the same")]);
  const before = id === undefined ? undefined : await world.store.readHead({ tenant, run: id });
  const from = world.clock.now();
  const options: StartOptions = {
    ...{ tenant, ...actorOf(scope) },
    ...(id === undefined ? {} : { id }),
    ...(given === undefined ? {} : { input: given }),
    ...(subject === undefined ? {} : { subject }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(allowed === undefined ? {} : { limits: allowed as NonNullable<StartOptions["limits"]> }),
    ...(singleton === undefined
      ? {}
      : {
          singleton: {
            key: singleton.key,
            ...(singleton.policy === undefined ? {} : { policy: singleton.policy }),
          },
        }),
  };
  const started = await world.runtime.start(bound, options);
  const detail = await detailOf(world, await seeRun(world, scope, started.id));
  if (before !== undefined || detail.createdAt < from) scope.status = 200;
  return detail;
}

const keyProblem = (what: string) => ({
  path: "header.Idempotency-Key",
  message: `does not go with ${what}`,
});

/** The run that an event is for. What the platform's own are told starts other runs: that is for those who may start them. */
async function findListener(world: World, scope: Scope, run: string): ReturnType<typeof findRun> {
  const found = await findRun(world, scope, run);
  if (isAllowed(scope.principal.role, "develop")) return found;
  const { machine } = await found.head();
  if (!isPlatformMachine(machine)) return found;
  throw new HoldfastError(
    "NOT_ALLOWED",
    `The role ${scope.principal.role} may not send to runs of ${machine}, which start others`,
  );
}

async function send(world: World, input: InputOf<"runs.send">, scope: Scope): Promise<AnswerOf<"runs.send">> {
  const { run, events, wait = "durable", timeoutMs } = input;
  const found = await findListener(world, scope, run);
  if (events.length > 1 && scope.idempotencyKey !== undefined)
    throw requestError([keyProblem("several events: give each a key of its own")]);
  const only = scope.idempotencyKey;
  const actor = actorOf(scope);
  const keyed = events.map(
    ({ type, data, key = only }): Outgoing => ({
      ...{ type, ...actor },
      ...(data === undefined ? {} : { data }),
      ...(key === undefined ? {} : { key }),
    }),
  );
  const [{ type, data, ...options }] = keyed as [Outgoing];
  const receipts: readonly Receipt[] =
    keyed.length === 1 ? [await found.send(type, data, options)] : await found.sendAll(keyed);
  if (wait === "durable") return { events: events.map(({ type }) => ({ type })) };
  const handled = await Promise.all(receipts.map((one) => handledWithin(world.clock, one, timeoutMs)));
  return {
    events: events.map(({ type }, index) => {
      const one = handled[index];
      return one === undefined ? { type } : { type, handled: toldOf(one) };
    }),
  };
}

function toldOf({
  seq,
  outcome,
  error,
}: Handled): NonNullable<AnswerOf<"runs.send">["events"][0]["handled"]> {
  return { seq, outcome, ...(error === undefined ? {} : { error: describeError(error) as never }) };
}

type BulkRun = AnswerOf<"runs.bulk">["runs"][0];

async function bulk(world: World, input: InputOf<"runs.bulk">, scope: Scope): Promise<AnswerOf<"runs.bulk">> {
  const { action, runs, filter, dryRun = false } = input;
  if ((runs === undefined) === (filter === undefined))
    throw requestError([{ path: "body", message: "give either runs or a filter" }]);
  const { tenant } = scope.principal;
  const matched =
    runs === undefined
      ? await matchingRuns(world, tenant, filter ?? {}, limits.bulkRunsMax)
      : { runs: [...new Set(runs)], isMore: false };
  const told: BulkRun[] = [];
  for (const run of matched.runs) told.push(await actOn(world, { run, action, dryRun }, scope));
  const count = (outcome: BulkRun["outcome"]) => told.filter((one) => one.outcome === outcome).length;
  return {
    ...{ action, dryRun, matched: matched.runs.length, isMore: matched.isMore, runs: told },
    ...{ done: count("done"), skipped: count("skipped"), failed: count("failed") },
  };
}

async function actOn(
  world: World,
  { run, action, dryRun }: { run: string; action: "cancel" | "retry"; dryRun: boolean },
  scope: Scope,
): Promise<BulkRun> {
  try {
    const head = await world.store.readHead({ tenant: scope.principal.tenant, run });
    if (head === undefined) throw new HoldfastError("RUN_UNKNOWN", `There is no run ${JSON.stringify(run)}`);
    const isFit =
      action === "retry" ? head.status === "parked" : head.status === "active" || head.status === "parked";
    if (!isFit) return { run, outcome: "skipped" };
    if (dryRun) return { run, outcome: "would" };
    const found = await findRun(world, scope, run);
    await (action === "cancel" ? found.cancel(actorOf(scope)) : found.retry(actorOf(scope)));
    return { run, outcome: "done" };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { run, outcome: "failed", error: { code: error.code, message: error.message } };
  }
}
