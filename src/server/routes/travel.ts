/** The routes of travel: what it would do, doing it, and what differs. */
import type { ActivityEffect, Effect, SpawnEffect } from "../../core/effect.ts";
import { settles } from "../../core/event.ts";
import { type JsonObject, put } from "../../core/json.ts";
import { diff } from "../../core/patch.ts";
import { restore } from "../../core/restore.ts";
import { beginFork, rollBack } from "../../core/rewind.ts";
import type { State, Timer } from "../../core/state.ts";
import { isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Told } from "../../runtime/travel/lineage.ts";
import type { RunHead } from "../../store/records.ts";
import type { TravelPreview } from "../contract/travel.ts";
import { detailOf } from "../run-view.ts";
import { actorOf, findRun, type Handlers, type Scope, type Seen, seeRun, type World } from "../world.ts";

type TravelHandlers = Pick<
  Handlers,
  | "runs.travel"
  | "runs.preview"
  | "runs.rollback"
  | "runs.fork"
  | "runs.diff"
  | "runs.changed"
  | "runs.compare"
>;

export function travelHandlers(world: World): TravelHandlers {
  const show = async (run: string, scope: Scope) => detailOf(world, await seeRun(world, scope, run));
  return {
    "runs.travel": async ({ run, at, kind }, scope) => {
      const { head, state } = await seeRun(world, scope, run);
      return preview(world, { head, state }, at, kind);
    },
    "runs.preview": async ({ run, ...asked }, scope) =>
      previewEdited(world, await seeRun(world, scope, run), asked),
    "runs.rollback": async ({ run, to, context }, scope) => {
      const found = await findRun(world, scope, run);
      const seq = await found.rollback({ to, ...editTo(context) }, actorOf(scope));
      return { seq, run: await show(run, scope) };
    },
    "runs.fork": async ({ run, at, fork, context }, scope) => {
      const found = await findRun(world, scope, run);
      const id = fork ?? scope.idempotencyKey;
      const { tenant } = scope.principal;
      const before = id === undefined ? undefined : await world.store.readHead({ tenant, run: id });
      const made = await found.fork({
        ...actorOf(scope),
        ...(at === undefined ? {} : { at }),
        ...(id === undefined ? {} : { id }),
        ...editTo(context),
      });
      if (before !== undefined) scope.status = 200;
      return show(made.id, scope);
    },
    "runs.diff": async ({ run, from, to }, scope) => {
      const { head } = await seeRun(world, scope, run);
      const end = to ?? head.seq;
      const [before, after] = [await world.past.at(head, from), await world.past.at(head, end)];
      return {
        ...{ from, to: end, patches: diff(before.state, after.state) as never },
        ...{ before: before.state as JsonObject, after: after.state as JsonObject },
      };
    },
    "runs.changed": async ({ run, path }, scope) => {
      const change = await (await findRun(world, scope, run)).lastChange(path);
      return { path, ...(change === undefined ? {} : { change: toldOf(change) }) };
    },
    "runs.compare": async ({ one, other }, scope) => {
      const runs = [await findRun(world, scope, one), await findRun(world, scope, other)] as const;
      const { common, first, patches } = await world.runtime.diff(...runs);
      const [mine, theirs] = first;
      return {
        common,
        first: {
          ...(mine === undefined ? {} : { one: toldOf(mine) }),
          ...(theirs === undefined ? {} : { other: toldOf(theirs) }),
        },
        patches: patches as never,
      };
    },
  };
}

const toldOf = ({ run, entry }: Told) => ({ run, entry: entry as never });

const editTo = (context: JsonObject | undefined) =>
  context === undefined ? {} : { edit: (draft: JsonObject) => replace(draft, context) };

/** Makes a context what somebody has edited it to. */
function replace(draft: JsonObject, context: JsonObject): void {
  const changing = draft as Record<string, unknown>;
  for (const key of Object.keys(changing)) if (!Object.hasOwn(context, key)) delete changing[key];
  for (const [key, value] of Object.entries(context)) put(changing, key, value);
}

type Work = TravelPreview["begins"][0];

/** What would begin again, stay or be cancelled: as `core/rewind.ts` does it (R2). */
async function preview(
  { past }: World,
  { head, state: current }: { readonly head: RunHead; readonly state: State },
  at: number,
  kind: TravelPreview["kind"],
): Promise<TravelPreview> {
  const then = (await past.at(head, at)).state as unknown as State;
  const inputs = await begunBefore(past, head, at, then);
  const given = (work: Work) => withInput(work, inputs);
  const now = kind === "fork" ? [] : worksOf(current);
  const wanted = worksOf(then).map(given);
  const { done, isMore } = kind === "fork" ? { done: [], isMore: false } : await doneSince(past, head, at);
  const refused = refusalOf(then, head, kind, at);
  return {
    ...{ kind, at, configuration: [...then.configuration], done, isMore },
    ...sorted(now, wanted),
    patches: diff(current as never, then as never) as never,
    ...(refused === undefined ? {} : { refused }),
  };
}

interface Edited {
  readonly at: number;
  readonly kind: TravelPreview["kind"];
  readonly context: JsonObject;
}

/** What going on with another context would do: the step that the run or the fork would take, taken and forgotten. */
async function previewEdited(
  world: World,
  seen: Pick<Seen, "head" | "state">,
  { at, kind, context }: Edited,
): Promise<TravelPreview> {
  const { past, runtime, clock } = world;
  const { head, state: current } = seen;
  const told = await preview(world, seen, at, kind);
  if (told.refused !== undefined) return told;
  const stored = (await past.at(head, at)).state as unknown as State;
  const { machine } = runtime.machines.read(stored.machine, stored.version);
  const state = restore(machine, stored) as State;
  const begun = await begunBefore(past, head, at, state);
  const place = { state, seq: at, at: (await past.checkpoint(head, at)).at, begun };
  const options = { at: clock.now(), run: head.run, ...editTo(context) };
  try {
    const step =
      kind === "fork"
        ? beginFork(machine, head.run, place, options)
        : rollBack(machine, current, place, options);
    if (step.error !== undefined) throw step.error;
    const now = kind === "fork" ? [] : worksOf(current);
    const made = new Map(step.effects.flatMap((effect) => (isBegun(effect) ? [[effect.key, effect]] : [])));
    const works = worksOf(step.state).map((work) => withInput(work, made));
    return {
      ...{ ...told, configuration: [...step.state.configuration] },
      ...sorted(now, works),
      patches: diff(current as never, step.state as never) as never,
    };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return { ...told, begins: [], stays: [], cancels: [], patches: [], refused: error.message };
  }
}

/** What is under way and what is to be, as what begins, what stays and what is cancelled. */
function sorted(now: readonly Work[], wanted: readonly Work[]) {
  const has = (list: readonly Work[], { key }: Work) => list.some((one) => one.key === key);
  return {
    begins: wanted.filter((work) => !has(now, work)),
    stays: wanted.filter((work) => has(now, work)),
    cancels: now.filter((work) => !has(wanted, work)),
  };
}

type Begun = ActivityEffect | SpawnEffect;
const isBegun = (effect: Effect): effect is Begun => effect.type === "activity" || effect.type === "spawn";

/** What was under way at a checkpoint, with what it was begun with; most began not long before it. */
async function begunBefore(
  past: World["past"],
  head: RunHead,
  at: number,
  then: State,
): Promise<ReadonlyMap<string, Begun>> {
  const begun = new Map<string, Begun>();
  const isAll = () => worksOf(then).every(({ key, kind }) => kind === "timer" || begun.has(key));
  if (isAll()) return begun;
  for await (const { effects } of past.back(head, at)) {
    for (const effect of effects) if (isBegun(effect)) begun.set(effect.key, effect);
    if (isAll()) break;
  }
  return begun;
}

function withInput(work: Work, begun: ReadonlyMap<string, Begun>): Work {
  const input = begun.get(work.key)?.input;
  return input === undefined ? work : { ...work, input };
}

function refusalOf(then: State, head: RunHead, kind: TravelPreview["kind"], at: number): string | undefined {
  if (then.status !== "active")
    return `At checkpoint ${at} the run was ${then.status}: there is nothing to go on with`;
  if (kind === "rollback" && head.status !== "active" && head.status !== "parked")
    return `The run is ${head.status} and cannot go back; fork it instead`;
  return undefined;
}

function worksOf({ activities, children, timers }: State): Work[] {
  const stateOf = (state: string | undefined) => (state === undefined ? {} : { state });
  return [
    ...activities.map(
      ({ key, id, activity, state }): Work => ({
        ...{ kind: "activity", key, id, name: activity, ...stateOf(state) },
      }),
    ),
    ...children.map(
      ({ key, id, machine, state }): Work => ({
        ...{ kind: "child", key, id, name: machine, ...stateOf(state) },
      }),
    ),
    ...timers.map((timer) => timerOf(timer)),
  ];
}

const timerOf = ({ key, id, event, due, state }: Timer): Work => ({
  ...{ kind: "timer", key, name: event.type, due },
  ...(id === undefined ? {} : { id }),
  ...(state === undefined ? {} : { state }),
});

/** Activities that ended after a checkpoint, the newest first, up to a bound. */
async function doneSince(
  past: World["past"],
  head: RunHead,
  at: number,
): Promise<Pick<TravelPreview, "done" | "isMore">> {
  const done: TravelPreview["done"] = [];
  let looked = 0;
  for await (const { seq, event } of past.back(head, head.seq)) {
    if (seq <= at) return { done, isMore: false };
    if (++looked > limits.scannedRunsMax) return { done, isMore: true };
    if (settles(event) && event.invocation !== undefined)
      done.push({ seq, activity: String(event.invokeId), key: event.invocation });
  }
  return { done, isMore: false };
}
