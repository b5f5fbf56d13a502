/** The routes of the inbox: what people are asked, and deciding it. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { Decision } from "../contract/inbox.ts";
import type { AnswerOf, InputOf } from "../contract.ts";
import { decisionsOf, type Open, openBy, toldOf, verdictOf } from "../decision.ts";
import { requestError } from "../problem-answer.ts";
import { listRuns } from "../run-list.ts";
import { handledWithin } from "../within.ts";
import { actorOf, findRun, type Handlers, type Scope, type Seen, seeRun, type World } from "../world.ts";

export function inboxHandlers(world: World): Pick<Handlers, "inbox.list" | "inbox.decide"> {
  return {
    "inbox.list": async ({ run, ...query }, scope) => {
      if (run !== undefined) return { decisions: await toldBy(world, scope, run) };
      const { heads, next } = await listRuns(world, scope.principal.tenant, {
        ...query,
        ...{ status: "active", waiting: "person" },
      });
      const decisions = await Promise.all(heads.map((head) => toldIfRead(world, scope, head.run)));
      return { decisions: decisions.flat(), ...(next === undefined ? {} : { next }) };
    },
    "inbox.decide": (input, scope) => decide(world, input, scope),
  };
}

/** One of many: a run that is gone meanwhile asks nothing, and one that is damaged does not hide the others. */
async function toldIfRead(world: World, scope: Scope, run: string): Promise<Decision[]> {
  try {
    return await toldBy(world, scope, run);
  } catch (error) {
    if (!isHoldfastError(error) || (error.code !== "RUN_UNKNOWN" && error.code !== "STORE_CORRUPT"))
      throw error;
    if (error.code === "STORE_CORRUPT") world.problem(error);
    return [];
  }
}

async function toldBy(world: World, scope: Scope, run: string): Promise<Decision[]> {
  const seen = await seeRun(world, scope, run);
  return (await decisionsOf(world, seen)).map((open) => toldOf(seen, open));
}

async function decide(
  world: World,
  input: InputOf<"inbox.decide">,
  scope: Scope,
): Promise<AnswerOf<"inbox.decide">> {
  const { run, decision, verdict } = input;
  const found = await findRun(world, scope, run);
  const seen = await seeRun(world, scope, run);
  const key = `decision ${decision}`;
  const open = openBy(await decisionsOf(world, seen), decision);
  // An earlier id of what is asked may also be one that was decided.
  const isDecided = open !== undefined && open.decision !== decision && (await isKnown(world, seen, key));
  if (open === undefined || isDecided) return repeated(world, { run, decision, key }, seen);
  checkVerdict(open, input);
  const way = verdict === "approve" || verdict === "edit" ? "approve" : "reject";
  const type = open.events[way];
  const data = dataOf(open, input, scope, seen.machine?.machine.chart.schemas?.events.get(type));
  const receipt = await found.send(type, data, { key, ...actorOf(scope) });
  const handled = await handledWithin(world.clock, receipt);
  const { outcome, seq } = handled ?? { outcome: "waiting" as const, seq: seen.head.seq };
  return { run, decision, outcome, seq, verdict: way, isRepeat: false };
}

const isKnown = async ({ store }: World, { head }: Seen, key: string): Promise<boolean> =>
  (await store.readKeys(head, [key]))[0]?.seq !== undefined;

/** What was decided before is told again; throws DECISION_UNKNOWN if it never was. */
async function repeated(
  { store, past }: World,
  { run, decision, key }: { readonly run: string; readonly decision: string; readonly key: string },
  seen: Seen,
): Promise<AnswerOf<"inbox.decide">> {
  const { head } = seen;
  const [known] = await store.readKeys(head, [key]);
  if (known?.seq === undefined)
    throw new HoldfastError(
      "DECISION_UNKNOWN",
      `The run ${JSON.stringify(run)} asks nobody about ${JSON.stringify(decision)}; look at the inbox for what it asks now`,
    );
  const { outcome, event } = await past.entry(head, known.seq);
  const verdict = verdictOf(seen, decision, event);
  return {
    ...{ run, decision, outcome, seq: known.seq },
    ...(verdict === undefined ? {} : { verdict }),
    isRepeat: true,
  };
}

function checkVerdict({ kind, isTyped }: Open, { verdict, input, note }: InputOf<"inbox.decide">): void {
  if (kind === "approval" && (verdict === "edit" || verdict === "respond"))
    throw requestError([{ path: "body.verdict", message: "an approval is approved or rejected" }]);
  if (verdict === "edit" && input === undefined)
    throw requestError([{ path: "body.input", message: "say what the tool is to be called with instead" }]);
  if (verdict === "respond" && note === undefined)
    throw requestError([{ path: "body.note", message: "say what whoever asked is to go on with" }]);
  if (input !== undefined && verdict !== "edit" && !(kind === "approval" && isTyped))
    throw requestError([{ path: "body.input", message: "goes with edit only" }]);
}

/**
 * What the event that decides says: who decided, with which words. An approval whose events have schemas is given what was
 * sent along, and of these what the schema has a field for; throws rather than lose a note.
 */
function dataOf(
  { kind, decision, isTyped }: Open,
  { verdict, note, input }: InputOf<"inbox.decide">,
  scope: Scope,
  check: ((data: Json | undefined) => unknown) | undefined,
): Json | undefined {
  const by = actorOf(scope);
  const said = note === undefined ? {} : { note };
  if (kind === "approval") return isTyped ? typedData(input, by, said, check) : { ...by, ...said };
  return {
    ...{ call: decision, isApproved: verdict === "approve" || verdict === "edit", ...by, ...said },
    ...(verdict === "edit" ? { input: input as Json } : {}),
  };
}

function typedData(
  input: Json | undefined,
  by: JsonObject,
  said: JsonObject,
  check: ((data: Json | undefined) => unknown) | undefined,
): Json | undefined {
  const fits = (data: Json | undefined): boolean => {
    try {
      check?.(data);
      return true;
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      return false;
    }
  };
  // What is no object has no room beside it.
  if (input === undefined || isObject(input))
    for (const more of [{ ...by, ...said }, said, by])
      if (Object.keys(more).length > 0 && fits({ ...more, ...input }) && !isLost(said, more))
        return { ...more, ...input };
  // What does not fit in any case is for the run to refuse, which says why.
  if (Object.keys(said).length > 0 && fits(input))
    throw requestError([
      {
        path: "body.note",
        message:
          "would be lost: the event that decides has a schema without a `note`; add one, or leave the note out",
      },
    ]);
  return input;
}

const isLost = (said: JsonObject, kept: JsonObject): boolean =>
  Object.keys(said).some((key) => !(key in kept));
