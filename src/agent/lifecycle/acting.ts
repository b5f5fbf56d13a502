/** Calling tools: those that are alike side by side, several at a time; what fails is told to the model. */
import type { Json, JsonObject } from "../../core/json.ts";
import { reasons } from "../thread/unit.ts";
import type { CallOptions } from "../tool/tool.ts";
import type { AgentContext, CallEnd, Changing, PendingCall } from "./context.ts";
import type { Definition } from "./event.ts";

/** Tools that are called alike. */
export interface ToolGroup {
  readonly tools: ReadonlySet<string>;
  readonly options: CallOptions;
}

/** Calls that are to be made, and what becomes of them. */
export interface Acting {
  readonly groups: readonly ToolGroup[];
  /** How many of a group are made at a time. */
  readonly parallel: number;
  /** The name of the activity that makes one. */
  readonly activity: string;
  readonly callsOf: (context: AgentContext) => readonly PendingCall[];
  readonly keep: (draft: Changing, ends: ReadonlyMap<string, CallEnd>, at: number) => void;
  readonly onDone: string;
  readonly fails: object;
}

export const acting = (calls: Acting): Definition => ({
  type: "parallel",
  states: Object.fromEntries(
    calls.groups.map((group, index) => [`group${index + 1}`, calling(group, calls)]),
  ),
  onDone: calls.onDone,
});

/** Calls the tools of one group, several at a time; what fails is told to the model, and nothing else fails with it. */
const calling = ({ tools, options }: ToolGroup, { callsOf, keep, ...calls }: Acting): Definition => ({
  initial: "calling",
  states: {
    calling: {
      map: {
        over: ({ context }) => callsOf(context).filter(({ tool }) => tools.has(tool)) as unknown as Json[],
        activity: calls.activity,
        concurrency: calls.parallel,
        tolerate: "100%",
        ...options,
        onDone: {
          target: "called",
          update: (draft, { event, at }) => keep(draft, endsOf(event.data, options), at),
        },
        onError: calls.fails,
      },
    },
    called: { type: "final" },
  },
});

/** How the calls of a map came out. */
function endsOf(data: MapEnd, { once }: CallOptions): ReadonlyMap<string, CallEnd> {
  const ends = new Map<string, CallEnd>();
  for (const result of data.results) if (result !== null) ends.set(result.call, result.end);
  // What may happen once only says itself that it failed, so that one of which the runtime says so may have happened.
  for (const { item, error } of data.failures)
    ends.set(
      item.id,
      once ? { status: "unknown", error: reasons.unknown } : { status: "failed", error: textOfError(error) },
    );
  return ends;
}

interface MapEnd {
  readonly results: readonly (CallOutcome | null)[];
  readonly failures: readonly { readonly item: PendingCall; readonly error: JsonObject }[];
}

/** What the activity that calls a tool gives back. */
export interface CallOutcome {
  readonly call: string;
  readonly end: CallEnd;
}

const textOfError = ({ name, message }: JsonObject): string =>
  typeof message === "string" ? message : `It failed (${String(name)}).`;
