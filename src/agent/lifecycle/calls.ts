/** How the calls that a model asks for come out: decided on by people, made, refused, or closed with the turn they belong to. */
import type { Draft } from "../../core/definition.ts";
import { isObject, type Json } from "../../core/json.ts";
import { addItem } from "../pages.ts";
import type { ResultPart } from "../thread/message.ts";
import { closeOpenCalls, reasons } from "../thread/unit.ts";
import { add, type CallEnd, type Changing, type Decided, freeId, type PendingCall } from "./context.ts";
import { endOfOwn, type OwnTool } from "./own-tools.ts";

/** What somebody decides on a call. */
export interface CallDecision {
  readonly call: string;
  readonly isApproved: boolean;
  readonly by?: string;
  readonly note?: string;
  /** The input it is to be called with instead, if it is approved; the model is told of the change. */
  readonly input?: Json;
}

/** Whether this is a decision: who neither agrees nor refuses has decided nothing. */
export const isDecision = (data: unknown): data is CallDecision =>
  isObject(data) && typeof data.isApproved === "boolean";

export function decide(
  draft: Changing,
  { call, isApproved, by, note, input }: CallDecision,
  at: number,
): void {
  const asked = draft.calls.find(({ id }) => id === call);
  if (asked === undefined) return;
  asked.decision = isApproved ? "approved" : "rejected";
  asked.decidedAt = at;
  if (by !== undefined) asked.by = by;
  if (note !== undefined) asked.note = note;
  if (isApproved && input !== undefined) {
    asked.input = input;
    asked.isEdited = true;
  }
  draft.callsAt = at;
}

/** Nobody has decided on these calls: they are not made. */
export function rejectAll(draft: Changing, note: string): void {
  for (const call of draft.calls) {
    if (call.decision !== "asked") continue;
    call.decision = "rejected";
    call.note = note;
  }
}

/** What can be called: tools, and what the lifecycle does itself. */
export interface Callable {
  isKnown(tool: string): boolean;
  readonly own: ReadonlyMap<string, OwnTool>;
}

/** What is done without calling: the agent's own tools, what was not approved, and what nobody can do, have a result at once. */
export function settleUncalled(draft: Changing, { isKnown, own }: Callable, at: number): void {
  const ends = new Map<string, CallEnd>();
  for (const { id, tool, input, decision, note } of draft.calls) {
    const ownTool = own.get(tool);
    if (decision === "rejected")
      ends.set(id, {
        status: "rejected",
        error: `${reasons.refused}${note === undefined ? "" : ` ${note}`}`,
      });
    else if (ownTool !== undefined) {
      if (decision !== "asked") ends.set(id, endOfOwn(ownTool, draft, input, at));
    } else if (!isKnown(tool))
      ends.set(id, { status: "failed", error: `There is no tool ${JSON.stringify(tool)}.` });
  }
  keepResults(draft, ends, at);
}

/** These calls have come out: their results go into the thread, in the order of the calls. */
export function keepResults(draft: Changing, ends: ReadonlyMap<string, CallEnd>, at: number): void {
  const results: ResultPart[] = [];
  for (const call of draft.calls) {
    const end = ends.get(call.id);
    if (end === undefined) continue;
    const decided = decidedPart(call);
    const result = { type: "result" as const, call: call.id, tool: call.tool };
    if (end.status === "done") {
      const { startedAt, ms, attempt } = end;
      results.push({ ...result, output: call.isEdited ? told(call.input as Json, end.output) : end.output });
      addItem(draft.log, { call: call.id, status: "done", startedAt, ms, attempt, ...decided });
    } else {
      results.push({ ...result, output: end.error, isError: true });
      addItem(draft.log, { ...notDone(draft, call.id, at), status: end.status, ...decided });
    }
  }
  if (results.length > 0) add(draft, { role: "tool", parts: results, at });
  draft.calls = draft.calls.filter(({ id }) => !ends.has(id));
}

/** The model asked for something else than what was done, and must know that. */
const told = (input: Json, output: Json): Json => ({
  note: "A person changed the input before the call was made.",
  ...{ input, output },
});

const notDone = ({ callsAt }: Changing, call: string, at: number) => ({
  ...{ call, startedAt: callsAt, ms: at - callsAt, attempt: 1 },
});

/** What was decided on a call; undefined if nobody had to. */
export function decidedOf(call: Draft<PendingCall> | PendingCall): Decided | undefined {
  const { decision, by, note, decidedAt, isEdited, input } = call;
  if (decision === "free") return undefined;
  return {
    isApproved: decision === "approved",
    at: decidedAt ?? null,
    ...(by === undefined ? {} : { by }),
    ...(note === undefined ? {} : { note }),
    ...(isEdited ? { input: input as Json } : {}),
  };
}

function decidedPart(call: Draft<PendingCall>): { decided?: Decided } {
  const decided = decidedOf(call);
  return decided === undefined ? {} : { decided };
}

/** Whatever is open is closed: what waits for people was never made, and of what is being called nothing is known. */
export function closeAll(draft: Changing, at: number): void {
  const isWaiting = draft.calls.some(({ decision }) => decision === "asked");
  const [reason, status] = isWaiting
    ? (["cancelled", "cancelled"] as const)
    : (["interrupted", "unknown"] as const);
  for (const call of draft.calls)
    addItem(draft.log, { ...notDone(draft, call.id, at), status, ...decidedPart(call) });
  closeOpenCalls(draft.thread, { id: freeId(draft, "tool"), at, reason });
  draft.calls = [];
}
