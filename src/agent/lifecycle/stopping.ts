/**
 * How an agent is stopped, or spoken over. Where that comes while its model is speaking, what the model had said by then is kept,
 * marked as interrupted.
 *
 * S1. The words come from the model alone: an activity of the run reads them from the stream they were said in. Whoever stops an
 *     agent, or speaks over it, says nothing in its place.
 * S2. What is said meanwhile is heard after them, in its order.
 */
import type { ActivityScope } from "../../core/activity.ts";
import type { Draft, SettledEvent, TransitionParts } from "../../core/definition.ts";
import type { EventShape } from "../../core/event.ts";
import { isObject } from "../../core/json.ts";
import type { Scope } from "../../core/scope.ts";
import type { State } from "../../core/state.ts";
import type { Run, Runtime } from "../../runtime/run.ts";
import type { ModelPiece } from "../model/model.ts";
import { type AgentContext, add, type Changing, type Said } from "./context.ts";
import type { AgentEvent, Definition } from "./event.ts";
import { end, hear, interrupt, isSayable, takeBack } from "./turn.ts";

/** What becomes of what is said while the agent is busy. */
export type BusyPolicy = "reject" | "enqueue" | "interrupt" | "rollback";

/** What matters here of a lifecycle. */
interface Busy {
  readonly whenBusy: BusyPolicy;
  readonly topics: boolean;
}

type SayEvent = Extract<AgentEvent, { readonly type: "say" }>;
export type SayScope = Scope<AgentContext, SayEvent>;
type Taking = TransitionParts<AgentContext, SayEvent>;
type Ending = TransitionParts<AgentContext, SettledEvent>;

/** Bad input changes nothing: the step that would take it is refused. */
export const sayable = {
  "what is said is a message with an id of its own": ({ context, event, at }: SayScope) =>
    isSayable(context.thread, event.data, at) && waiting(context).every(({ id }) => id !== event.data.id),
};

const saysNothing = {
  "whoever stops an agent says nothing in its place": ({ event: { data } }: { readonly event: EventShape }) =>
    data === undefined || (isObject(data) && Object.keys(data).length === 0),
};

/** Whether its model may be speaking right now. */
const isSpeaking = (scope: Scope<AgentContext, AgentEvent>): boolean => scope.in("#thinking");

/** How somebody stops it. */
export const stop: TransitionParts<AgentContext, AgentEvent>[] = [
  { guard: isSpeaking, require: saysNothing, target: "#stopping" },
  { target: "#idle", require: saysNothing, update: (draft, { at }) => interrupt(draft, at) },
];

/** Whether what is said takes the turn of what was said before. */
export const takesOver = ({ whenBusy }: Busy): boolean => whenBusy === "interrupt" || whenBusy === "rollback";

/** How somebody speaks over it: what the model was just saying comes first, unless all of it is taken back. */
export function speakOver(busy: Busy): Taking[] {
  const over: Taking = {
    ...{ target: "working", reenter: true, require: sayable },
    update: (draft, { event, at }) => takeOver(draft, event.data, { ...busy, at }),
  };
  const next: Taking = { guard: isSpeaking, require: sayable, target: "#stopping", update: sayNext };
  return busy.whenBusy === "rollback" ? [over] : [next, over];
}

function takeOver(
  draft: Changing,
  said: Said,
  { whenBusy, topics, at }: Busy & { readonly at: number },
): void {
  if (whenBusy === "rollback") takeBack(draft, at);
  else interrupt(draft, at);
  hear(draft, said, { at, topics });
}

/** What is said has its turn once the words before it are kept. */
function sayNext(draft: Changing, { event }: SayScope): void {
  draft.next = [...(draft.next ?? []), event.data as Draft<Said>];
}

const waiting = ({ next = [] }: AgentContext): readonly Said[] => next;

/** The state in which it is found out what the model had said. */
export function stopping(busy: Busy): Definition {
  const more: Taking = {
    guard: ({ context }) => takesOver(busy) || waiting(context).length === 0,
    ...{ require: sayable, update: sayNext },
  };
  return {
    id: "stopping",
    ...(busy.whenBusy === "enqueue" ? { defer: ["say"] } : { on: { say: more } }),
    invoke: {
      ...{ id: "overhear", activity: "overhear", retry: { attempts: 3, first: "200ms", max: "1s" } },
      onDone: goOn(busy, ({ data }) => (typeof data === "string" ? data : "")),
      // What nobody can find out is left.
      onError: goOn(busy, () => ""),
    },
  };
}

const goOn = (busy: Busy, wordsIn: (event: SettledEvent) => string): Ending[] => [
  {
    guard: ({ context }) => waiting(context).length > 0,
    target: "working",
    update: (draft, { context, event, at }) => {
      keepWords(draft, wordsIn(event), at);
      const [first, ...more] = waiting(context);
      delete draft.next;
      hear(draft, first as Said, { at, topics: busy.topics });
      for (const said of more) takeOver(draft, said, { ...busy, at });
    },
  },
  { target: "idle", update: (draft, { event, at }) => keepWords(draft, wordsIn(event), at) },
];

/** The turn ends before its time; what the model had said is kept. */
function keepWords(draft: Changing, text: string, at: number): void {
  if (text !== "")
    add(draft, {
      ...{ role: "assistant", parts: [{ type: "text", text }], at },
      metadata: { interrupted: true },
    });
  end(draft, "stopped");
}

/** Finds what the model had said of the thought that was under way before this (S1). */
export const overhearWith =
  (runtime: Pick<Runtime, "run">) =>
  async (_: unknown, scope: ActivityScope): Promise<string> => {
    const run = await runtime.run(scope.run, { tenant: scope.tenant });
    const { activities } = await stateBefore(run, (await scope.state()).seq);
    const thought = activities.find(({ id }) => id === "think");
    if (thought === undefined) return "";
    let [text, newest] = ["", 0];
    for await (const { attempt, data } of run.stream(thought.key)) {
      if (attempt > newest) text = "";
      newest = attempt;
      const piece = data as unknown as ModelPiece;
      if (piece.type === "text") text += piece.text;
    }
    return text;
  };

/** The state before a step. What was refused has a checkpoint as well, so the one before need not be it. */
async function stateBefore(run: Pick<Run, "head" | "at">, step: number): Promise<State<unknown>> {
  let { seq } = await run.head();
  let state = await run.at(seq);
  while (state.seq >= step) state = await run.at(--seq);
  return state;
}
