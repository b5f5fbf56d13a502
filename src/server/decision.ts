/**
 * Decisions: what a run asks people. An agent asks about calls of tools; any machine asks by a state with the tag `approval`.
 *
 * D1. A decision has the same id for as long as it waits: the id of the call, or the state with the checkpoint at which it
 *     began to wait. That id is the key of the event that decides it, so deciding twice is deciding once.
 */
import type { StateNode } from "../core/chart.ts";
import type { Event } from "../core/event.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { State } from "../core/state.ts";
import { isHoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Asked } from "../runtime/waiting.ts";
import type { Entry } from "../store/journal.ts";
import type { Decision } from "./contract/inbox.ts";
import { definitionOf, schemaOf } from "./definition.ts";
import { kindOf } from "./kind.ts";
import type { Seen, World } from "./world.ts";

/** A decision with what is needed to decide it. */
export interface Open extends Asked {
  readonly kind: "tool" | "approval";
  readonly since: number;
  readonly seq: number;
  readonly events: { readonly approve: string; readonly reject: string };
  readonly description?: string;
  readonly tool?: string;
  readonly input?: Json;
  readonly isTyped: boolean;
  /** Whether it waits for longer than was looked back: then it has had an earlier id. */
  readonly isOlder?: boolean;
}

/** The decision that an id means: its own, or one that it had before. */
export function openBy(open: readonly Open[], id: string): Open | undefined {
  const [, path, seq] = /^(.*)@(\d{1,15})$/s.exec(id) ?? [];
  const isEarlier = (one: Open) => one.isOlder === true && one.state === path && Number(seq) < one.seq;
  return open.find(({ decision }) => decision === id) ?? open.find(isEarlier);
}

/** Which way an event decided; undefined where the machine that would tell is not here. */
export function verdictOf(
  { machine }: Seen,
  decision: string,
  { type, data }: Event,
): "approve" | "reject" | undefined {
  if (type === "decide" && isObject(data) && typeof data.isApproved === "boolean")
    return data.isApproved ? "approve" : "reject";
  const node = machine?.machine.chart.byPath.get(decision.replace(/@\d+$/, ""));
  const events = node === undefined ? undefined : eventsOf(node);
  return type === events?.approve ? "approve" : type === events?.reject ? "reject" : undefined;
}

/** The decisions that a run waits for. */
export async function decisionsOf(world: World, seen: Seen): Promise<readonly Open[]> {
  const { machine, head } = seen;
  if (machine === undefined || head.status !== "active") return [];
  if (kindOf(machine.machine) === "agent") return callsAsked(seen);
  const open: Open[] = [];
  for (const node of askingNodes(seen)) {
    const decision = await approvalOf(world, seen, node);
    if (decision !== undefined) open.push(decision);
  }
  return open;
}

/** The active states that wait for a person. */
function askingNodes({ machine, state }: Seen): StateNode[] {
  const nodes = new Set<StateNode>();
  for (const leaf of state.configuration)
    for (let node = machine?.machine.chart.byPath.get(leaf); node !== undefined; node = node.parent)
      if (node.tags.includes("approval")) nodes.add(node);
  return [...nodes];
}

interface PendingCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly decision: string;
  readonly askedAt?: number;
}

function callsAsked({ head, state }: Seen): Open[] {
  const { calls = [], callsAt } = state.context as unknown as {
    readonly calls?: readonly PendingCall[];
    readonly callsAt?: number;
  };
  const due = dueOf(state, "working.waiting");
  return calls.flatMap(({ id, tool, input, decision, askedAt }) =>
    decision === "asked"
      ? [
          {
            ...{ decision: id, kind: "tool" as const, state: "working.waiting", tool, input },
            ...{
              asked: `${tool} ${short(input)}`,
              seq: head.seq,
              since: askedAt ?? callsAt ?? head.updatedAt,
            },
            ...{ events: { approve: "decide", reject: "decide" }, isTyped: false },
            ...(due === undefined ? {} : { due }),
          },
        ]
      : [],
  );
}

/** When the first timer of a state fires: by then it must be decided. */
function dueOf({ timers }: State, path: string): number | undefined {
  const dues = timers.filter(({ state }) => state === path).map(({ due }) => due);
  return dues.length === 0 ? undefined : Math.min(...dues);
}

async function approvalOf(world: World, seen: Seen, node: StateNode): Promise<Open | undefined> {
  const { machine, state } = seen;
  if (machine === undefined) return undefined;
  const events = eventsOf(node);
  if (events === undefined) return undefined;
  const { seq, at, isOlder } = await beganAt(world, seen, node, events);
  const definition = definitionOf(machine.machine.definition, node);
  const description = typeof definition.description === "string" ? definition.description : undefined;
  const declared =
    (machine.machine.definition as { readonly events?: Readonly<Record<string, unknown>> }).events ?? {};
  const due = dueOf(state, node.path);
  return {
    ...{ decision: `${node.path}@${seq}`, kind: "approval", state: node.path, events, seq, since: at },
    isOlder,
    asked: description ?? `${node.name} (${events.approve} or ${events.reject})`,
    ...(description === undefined ? {} : { description }),
    ...(due === undefined ? {} : { due }),
    isTyped:
      schemaOf(declared[events.approve]) !== undefined || schemaOf(declared[events.reject]) !== undefined,
  };
}

/** The events that say yes and no: by their usual names, else the last two of the state, which is where `approval` puts them. */
function eventsOf(node: StateNode): Open["events"] | undefined {
  const types = node.transitions
    .filter(({ platform }) => !platform)
    .flatMap(({ descriptors }) => descriptors);
  const own = [...new Set(types)];
  if (own.includes("approve") && own.includes("reject")) return { approve: "approve", reject: "reject" };
  const [approve, reject] = own.slice(-2);
  return approve === undefined || reject === undefined ? undefined : { approve, reject };
}

/**
 * Since when a state waits: the newest step that entered it, or that took one of its events. Looked for from the newest
 * entry backwards, no further than some hundreds and than the journal is kept: a run that goes on beside what it asks has a
 * later id then, and the older one is still understood (`openBy`).
 */
async function beganAt(
  { past }: World,
  { head, state }: Seen,
  { path }: StateNode,
  { approve, reject }: Open["events"],
): Promise<{ seq: number; at: number; isOlder: boolean }> {
  const isIn = (configuration: readonly string[]) =>
    configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`));
  let found = { seq: head.seq, at: head.updatedAt, isOlder: false };
  let looked = 0;
  let configuration: readonly string[] = state.configuration;
  try {
    for await (const entry of past.back(head, head.seq)) {
      if (!isIn(configuration)) return found;
      if (looked++ >= limits.decisionLookedMax) return { ...found, isOlder: true };
      found = { ...found, seq: entry.seq, at: entry.at };
      const { event, outcome } = entry;
      if (outcome === "taken" && (event.type === approve || event.type === reject)) return found;
      if (!movesConfiguration(entry)) continue;
      if (entry.seq === 1) return found;
      configuration = ((await past.at(head, entry.seq - 1)).state as unknown as State).configuration;
    }
    return found;
  } catch (error) {
    // What is not kept any more is not looked at.
    if (!isHoldfastError(error) || error.code !== "JOURNAL_PRUNED") throw error;
    return { ...found, isOlder: true };
  }
}

const movesConfiguration = ({ patches }: Entry): boolean =>
  patches.some(({ path }) => path.length === 0 || path[0] === "configuration");

/** A decision as the inbox tells it. */
export function toldOf({ head, state }: Seen, open: Open): Decision {
  const { run, machine, version, subject, attributes } = head;
  const { decision, kind, asked, description, tool, input, events, since, seq, due } = open;
  const context = kind === "approval" ? contextOf(state) : undefined;
  return {
    ...{ decision, run, machine, version, subject, attributes: { ...attributes }, kind },
    ...{ state: open.state, asked, events: { ...events }, since, seq },
    ...(description === undefined ? {} : { description }),
    ...(tool === undefined ? {} : { tool }),
    ...(input === undefined ? {} : { input }),
    ...(context === undefined ? {} : { context }),
    ...(due === undefined ? {} : { due }),
    allowed: kind === "tool" ? ["approve", "edit", "reject", "respond"] : ["approve", "reject"],
  };
}

/** The context, for whoever decides; undefined if it is too long to be read. */
function contextOf({ context }: State): JsonObject | undefined {
  if (!isObject(context)) return undefined;
  return JSON.stringify(context).length > limits.contextShownMax ? undefined : context;
}

function short(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > limits.valueShownMax ? `${text.slice(0, limits.valueShownMax)}…` : text;
}
