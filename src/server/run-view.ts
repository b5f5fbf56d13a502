/** Runs as they are told: a row of a list from the head alone, and everything from the state and the store. */

import type { ActivityEffect } from "../core/effect.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { nextEvents } from "../core/query.ts";
import { limits } from "../limits.ts";
import { childName } from "../runtime/child-name.ts";
import { readParking } from "../runtime/park.ts";
import { personAttribute } from "../runtime/registry.ts";
import { attemptsStuck, lineOf, overdueMs, type Standing, waitsOf } from "../runtime/waiting.ts";
import { decode } from "../store/codec.ts";
import type { ActivityRow, RunHead } from "../store/records.ts";
import type { RunDetail, RunSummary, Wait } from "./contract/runs.ts";
import { decisionsOf } from "./decision.ts";
import { eventOf, type Parts } from "./definition.ts";
import { kindOf } from "./kind.ts";
import type { Seen, World } from "./world.ts";

/** What is known of a run without reading its state. */
export function summaryOf(head: RunHead, now: number): RunSummary {
  const { run, machine, version, status, seq, subject, createdAt, updatedAt } = head;
  const { completedAt, wakeAt, attributes, parent, fork } = head;
  const stuck = stuckBy(head, now);
  return {
    ...{ run, machine, version, status, seq, subject, createdAt, updatedAt },
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(wakeAt === undefined ? {} : { wakeAt }),
    attributes: { ...attributes },
    ...(parent === undefined ? {} : { parent: { run: parent.run, id: parent.id } }),
    ...(fork === undefined ? {} : { fork: { run: fork.run, seq: fork.seq } }),
    needsPerson: attributes[personAttribute] === true && status === "active",
    ...(stuck === undefined ? {} : { stuck }),
  };
}

function stuckBy({ status, updatedAt, wakeAt }: RunHead, now: number): RunSummary["stuck"] {
  if (status === "parked") return { why: "parked", since: updatedAt };
  if (status === "active" && wakeAt !== undefined && wakeAt < now - overdueMs)
    return { why: "overdue", since: wakeAt };
  return undefined;
}

/** Everything that is told of a run. */
export async function detailOf(world: World, seen: Seen): Promise<RunDetail> {
  const { head, state, machine } = seen;
  const now = world.clock.now();
  const loaded = await world.store.load(head, { seq: head.seq, digest: head.digest });
  const isEnded = head.status !== "active" && head.status !== "parked";
  const activities = isEnded ? [] : await standingsOf(world, loaded?.activities ?? [], head);
  const events = machine === undefined ? [] : openEvents(seen);
  const inboxSize = loaded?.inbox.length ?? 0;
  const waits = waitsOf({
    ...{ head, state, activities, events, inboxSize, isLoaded: machine !== undefined, now },
    decisions: isEnded ? [] : await decisionsOf(world, seen),
    ...(head.status === "parked" ? { parked: await readParking(world.past, head) } : {}),
  });
  const summary = summaryOf(head, now);
  const stuck = summary.stuck ?? retrying(activities, head);
  const { configuration, output, reason } = state;
  const newest = newestOf(world, head);
  return {
    ...summary,
    ...(stuck === undefined ? {} : { stuck }),
    ...{ hash: head.hash, kind: kindOf(machine?.machine), loaded: machine !== undefined },
    ...(newest === undefined ? {} : { newerVersion: newest }),
    ...{ configuration: [...configuration], tags: tagsOf(seen), inboxSize },
    waiting: { line: lineOf(waits, now), for: waits as Wait[] },
    nextEvents: events.map((type) => eventOf(type, eventsIn(machine?.machine.definition))),
    children: await childrenOf(world, seen),
    forks: (await world.store.readForks(head)).map(({ run, seq }) => ({ run, seq })),
    ...(head.limits === undefined ? {} : { limits: { ...head.limits } }),
    ...(head.spent === undefined ? {} : { spent: { ...head.spent } }),
    breakpoints: (head.debug?.breakpoints ?? []).map((one) => ({ ...one })),
    ...(output === undefined ? {} : { output }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The events that active states listen to; none of the platform's. */
function openEvents({ state, machine }: Seen): string[] {
  if (machine === undefined || state.status !== "active") return [];
  const platform = /^(done|error|unknown)\.(state|invoke|map)\.|^after\.|^error\.|^item\.map\./;
  return nextEvents(machine.machine, state).filter((type) => !platform.test(type));
}

const eventsIn = (definition: object | undefined): Parts =>
  ((definition as { readonly events?: Parts } | undefined)?.events ?? {}) as Parts;

function retrying(activities: readonly Standing[], { updatedAt }: RunHead): RunSummary["stuck"] {
  const isTried = activities.some(({ attempt, error }) => attempt >= attemptsStuck && error !== undefined);
  return isTried ? { why: "retrying", since: updatedAt } : undefined;
}

function newestOf({ runtime }: World, { machine, version }: RunHead): number | undefined {
  const newest = runtime.machines.list(machine).findLast(({ status }) => status === "active")?.version;
  return newest !== undefined && newest > version ? newest : undefined;
}

function tagsOf({ state, machine }: Seen): string[] {
  const tags = new Set<string>();
  for (const leaf of state.configuration)
    for (let node = machine?.machine.chart.byPath.get(leaf); node !== undefined; node = node.parent)
      for (const tag of node.tags) tags.add(tag);
  return [...tags];
}

async function childrenOf({ store }: World, { head, state }: Seen): Promise<RunDetail["children"]> {
  const children = state.children.slice(0, limits.childrenShownMax);
  return Promise.all(
    children.map(async ({ key, id, machine }) => {
      const run = childName(head.run, key);
      const child = await store.readHead({ tenant: head.tenant, run });
      return { run, id, machine, ...(child === undefined ? {} : { status: child.status }) };
    }),
  );
}

/** How activities stand: their rows, with what they were told of retries and how the last attempt ended. */
async function standingsOf(
  { past, seal }: World,
  rows: readonly ActivityRow[],
  head: RunHead,
): Promise<readonly Standing[]> {
  return Promise.all(
    rows.slice(0, limits.childrenShownMax).map(async (row): Promise<Standing> => {
      const { key, attempt, status, dueAt, report } = row;
      const effect: ActivityEffect | undefined = await past.activity(row, head).catch(() => undefined);
      const retry = effect?.options.retry;
      const attemptsMax = isObject(retry) && typeof retry.attempts === "number" ? retry.attempts : undefined;
      const said = report === undefined ? {} : (decode(seal.open(report, head), "a report") as JsonObject);
      const error = isObject(said.error) ? said.error : undefined;
      return {
        ...{ key, attempt, status, dueAt },
        ...(attemptsMax === undefined ? {} : { attemptsMax }),
        ...(error === undefined ? {} : { error }),
      };
    }),
  );
}
