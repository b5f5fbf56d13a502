/** The routes of agents: conversations, plans and boards, from their runs' states at any checkpoint. */

import type { BoardState } from "../../agent/board/state.ts";
import type { AgentContext } from "../../agent/lifecycle/context.ts";
import { type AgentReport, reportOf } from "../../agent/lifecycle/report.ts";
import type { Plan } from "../../agent/plan/plan.ts";
import { bottlenecks, criticalPath, progress } from "../../agent/plan/progress.ts";
import { lengthOf } from "../../agent/thread/thread.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { HoldfastError } from "../../errors.ts";
import type { BoardReport, PlanReport } from "../contract/conversation.ts";
import type { AnswerOf, InputOf } from "../contract.ts";
import { handledWithin } from "../within.ts";
import { actorOf, findRun, type Handlers, type Scope, seeRun, type World } from "../world.ts";

type AgentHandlers = Pick<Handlers, "runs.conversation" | "runs.plan" | "runs.say" | "runs.board">;

export function conversationHandlers(world: World): AgentHandlers {
  const stateAt = async (run: string, at: number | undefined, scope: Scope) => {
    const { head, state } = await seeRun(world, scope, run);
    const seq = at ?? head.seq;
    return {
      seq,
      state: seq === head.seq ? state : ((await world.past.at(head, seq)).state as unknown as State),
    };
  };
  return {
    "runs.conversation": async ({ run, at, head, limit }, scope) => {
      const { seq, state } = await stateAt(run, at, scope);
      if (head !== undefined) checkHead(run, state, head);
      const report = reportOf(state, {
        ...(head === undefined ? {} : { head }),
        ...(limit === undefined ? {} : { messagesMax: limit }),
      });
      if (report === undefined) throw unfit(run, "no agent's");
      return { ...told(report), run, seq };
    },
    "runs.plan": async ({ run, at }, scope) => {
      const { seq, state } = await stateAt(run, at, scope);
      const plan = planOf(state);
      if (plan === undefined) throw unfit(run, "no planner's, and has no plan");
      return { run, seq, plan };
    },
    "runs.say": (input, scope) => say(world, input, scope),
    "runs.board": async ({ run, at }, scope) => {
      const { seq, state } = await stateAt(run, at, scope);
      const { context } = state as unknown as State<BoardState>;
      if (!isBoard(context as unknown as JsonObject)) throw unfit(run, "no board's");
      return { run, seq, ...boardOf(context) };
    },
  };
}

const unfit = (run: string, what: string): HoldfastError =>
  new HoldfastError("RUN_UNFIT", `The run ${JSON.stringify(run)} is ${what}`);

/** Throws MESSAGE_UNKNOWN for a position that the conversation does not have. */
function checkHead(run: string, state: State, head: number): void {
  if (reportOf(state, { messagesMax: 1 }) === undefined) throw unfit(run, "no agent's");
  const { thread } = (state as unknown as State<AgentContext>).context;
  if (head < lengthOf(thread)) return;
  throw new HoldfastError(
    "MESSAGE_UNKNOWN",
    `The conversation ${JSON.stringify(run)} has no message at ${head}; it has ${lengthOf(thread)}`,
  );
}

/** A report as it is told: how to decide is the inbox's business. */
function told(report: AgentReport): Omit<AnswerOf<"runs.conversation">, "run"> {
  const { open, decided } = report.approvals;
  const asked = open.map(({ answers: _answers, ...one }) => one);
  return { ...report, approvals: { open: asked, decided } } as unknown as AnswerOf<"runs.conversation">;
}

/** The plan in a state: a planner's own, or an agent's. */
function planOf(state: State): PlanReport | undefined {
  const { context } = state;
  if (!isObject(context)) return undefined;
  const agent = reportOf(state);
  if (agent !== undefined) return (agent.plan ?? undefined) as PlanReport | undefined;
  const { goal, plan } = context as { readonly goal?: unknown; readonly plan?: unknown };
  if (typeof goal !== "string" || !isObject(plan) || !Array.isArray(plan.tasks)) return undefined;
  const made = plan as unknown as Plan;
  return {
    ...{ goal, notes: [], revision: made.revision, tasks: made.tasks as never },
    ...{ progress: progress(made) as never, criticalPath: criticalPath(made) as never },
    bottlenecks: bottlenecks(made).map(({ task }) => task),
  };
}

async function say(world: World, input: InputOf<"runs.say">, scope: Scope): Promise<AnswerOf<"runs.say">> {
  const { run, text, id: given, instead } = input;
  const found = await findRun(world, scope, run);
  if (reportOf(await found.state()) === undefined) throw unfit(run, "no agent's");
  const id = given ?? scope.idempotencyKey ?? world.ids.next();
  const data = { id, parts: [{ type: "text", text }], ...(instead === undefined ? {} : { instead }) };
  const receipt = await found.send("say", data, { key: id, ...actorOf(scope) });
  const handled = await handledWithin(world.clock, receipt);
  if (handled === undefined) return { message: id, seq: (await found.head()).seq, outcome: "waiting" };
  const { outcome, seq, error } = handled;
  if (outcome === "taken" || outcome === "deferred") return { message: id, seq, outcome };
  if (error !== undefined && error.code !== "EVENT_UNHANDLED") throw error;
  throw new HoldfastError(
    "AGENT_BUSY",
    `The agent ${JSON.stringify(run)} is at work on what was said before; wait until it is done, or stop it`,
  );
}

const isBoard = (context: JsonObject): boolean =>
  isObject(context) &&
  isObject(context.entries) &&
  Array.isArray(context.grants) &&
  Array.isArray(context.proposals);

function boardOf(board: BoardState): Omit<BoardReport, "run" | "seq"> {
  const { version, entries, reviews, grants, queue, proposals } = board;
  return {
    version,
    entries: Object.entries(entries).map(([key, { value, version: at, by, at: when }]) => ({
      ...{ key, value, version: at, by, at: when },
    })),
    reviews: reviews.map((one) => ({ ...one })),
    leases: grants.map(({ token, names, by, until }) => ({ token, names: [...names], by, until })),
    queue: queue.map(({ names, by, ms, until }) => ({ names: [...names], by, ms, until })),
    proposals: proposals.map(
      ({ id, question, options, voters, rule, quorum, closesAt, closedAt, by, at, ballots }) => ({
        ...{
          id,
          question,
          options: [...options],
          voters: [...voters],
          rule,
          quorum,
          closesAt,
          closedAt,
          by,
          at,
        },
        ballots: ballots.map((ballot) => ({ by: ballot.by, choice: [...ballot.choice] })),
      }),
    ),
  };
}
