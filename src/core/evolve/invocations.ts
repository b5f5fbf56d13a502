/** Invocations under way: which of the new definition's they are from now on. Whatever runs keeps its key. */
import type { StateNode } from "../chart.ts";
import { freeze } from "../json.ts";
import { inside, show } from "../problem.ts";
import type { Activity, Child } from "../state.ts";
import { type Mapping, renamed } from "./mapping.ts";
import type { Counterpart, Move } from "./move.ts";
import { type Pending, pendingActivity, pendingChild } from "./report.ts";
import { type WrittenInvocation, writtenInvocations } from "./written.ts";

/** By the index of an old invocation, that of the new one it has become. */
type Pairs = ReadonlyMap<number, number>;

export class Invocations {
  readonly #move: Move;
  readonly #pairs = new Map<Counterpart, Pairs>();
  /** New invocations that something is under way for. */
  readonly #taken = new Set<string>();
  /** By old id, the new one of children that have another. */
  readonly childIds = new Map<string, string>();

  constructor(move: Move) {
    this.#move = move;
    for (const counterpart of move.counterparts) {
      const { old, now } = counterpart;
      const before = writtenInvocations(move.from.definition, old.path);
      const after = writtenInvocations(move.to.definition, now.path);
      this.#pairs.set(counterpart, pairInvocations(before, after, move.mapping));
    }
  }

  activities(): readonly Activity[] {
    const { state, mapping } = this.#move;
    return state.activities.flatMap((one, index) => {
      const name = renamed(mapping.activities, one.activity);
      const at = inside("activities", index);
      const now = this.#moved(one, { name, pending: pendingActivity(one), kind: "activity", at });
      if (now === undefined || name === null) return [];
      const moved = same(one, { ...one, ...now, activity: name });
      return [this.#move.keep(pendingActivity(one), one, moved, pendingActivity(moved))];
    });
  }

  children(): readonly Child[] {
    const { state, mapping } = this.#move;
    return state.children.flatMap((one, index) => {
      const name = renamed(mapping.children, one.machine);
      const at = inside("children", index);
      const now = this.#moved(one, { name, pending: pendingChild(one), kind: "machine", at });
      if (now === undefined || name === null) return [];
      const { autoforward: _, ...rest } = one;
      const invoke =
        now.state === undefined ? undefined : this.#invokeAt(now as { state: string; index: number });
      const forwards = invoke === undefined ? one.autoforward === true : invoke.autoforward;
      const moved = same(one, {
        ...rest,
        ...now,
        machine: name,
        ...(forwards ? { autoforward: true as const } : {}),
      });
      if (moved.id !== one.id) this.childIds.set(one.id, moved.id);
      return [this.#move.keep(pendingChild(one), one, moved, pendingChild(moved))];
    });
  }

  #invokeAt({ state, index }: { readonly state: string; readonly index: number }) {
    return this.#move.chart.byPath.get(state)?.invokes[index];
  }

  /** What the new definition has in active states, and the old one had not, or what was let go. */
  *beginning(): Generator<{ readonly node: StateNode; readonly index: number }> {
    const ended = new Set<string>();
    for (const [{ now }, pairs] of this.#pairs)
      for (const index of pairs.values()) ended.add(`${now.path}:${index}`);
    for (const node of this.#move.active)
      for (const index of node.invokes.keys()) if (!ended.has(`${node.path}:${index}`)) yield { node, index };
  }

  /** The id, state and index an invocation has now; undefined, with what became of it told, if it cannot go along. */
  #moved(
    one: Activity | Child,
    {
      name,
      pending,
      kind,
      at,
    }: { name: string | null; pending: Pending; kind: "activity" | "machine"; at: string },
  ): Partial<Pick<Activity, "id" | "state" | "index">> | undefined {
    const move = this.#move;
    if (name === null || move.mapping.invocations.get(one.id) === null) {
      move.letGo(pending);
      return undefined;
    }
    if (one.state === undefined) return {};
    for (const [{ old, now }, pairs] of this.#pairs) {
      const index = old.path === one.state ? pairs.get(one.index as number) : undefined;
      if (index === undefined) continue;
      const { source, id = one.id } = writtenInvocations(move.to.definition, now.path)[
        index
      ] as WrittenInvocation;
      const place = `${now.path}:${index}`;
      if ((source !== undefined && source !== name) || this.#taken.has(place)) continue;
      this.#taken.add(place);
      return { id, state: now.path, index };
    }
    this.#refuse(one as typeof one & { state: string }, pending, kind, at);
    return undefined;
  }

  #refuse(
    one: { id: string; state: string },
    pending: Pending,
    kind: "activity" | "machine",
    at: string,
  ): void {
    const move = this.#move;
    const places = move.counterparts.filter(({ old }) => old.path === one.state).map(({ now }) => now);
    const what = kind === "activity" ? "activities" : "children";
    const or = `or let go of it with \`${what}\`: { ${JSON.stringify(pending.name)}: null }`;
    if (places.length === 0) {
      const problem = `is of the state ${show(one.state)}, which would not be active`;
      move.refuse(pending, at, problem, `map that state in \`states\`, ${or}`);
      return;
    }
    const states = places.map(({ path }) => show(path)).join(", ");
    const others = places
      .flatMap(({ path }) => writtenInvocations(move.to.definition, path))
      .flatMap(({ id, kind: other }) => (other === kind && id !== undefined ? [id] : []));
    const fix =
      others.length === 0
        ? or.slice(3)
        : `if it is ${others.map(show).join(" or ")} now, say so in \`invocations\` and \`${what}\`, ${or}`;
    move.refuse(pending, at, `is no invocation of ${states} any more`, fix);
  }
}

/** The same reference if nothing is different. */
function same<Item extends Activity | Child>(one: Item, moved: Item): Item {
  const keys = new Set([...Object.keys(one), ...Object.keys(moved)]) as Set<keyof Item>;
  return [...keys].every((key) => one[key] === moved[key]) ? one : freeze(moved);
}

/** Which invocations are the same: by the id the mapping gives, by their own, and those without one by their place. */
export function pairInvocations(
  olds: readonly WrittenInvocation[],
  news: readonly WrittenInvocation[],
  mapping: Mapping,
): Pairs {
  const pairs = new Map<number, number>();
  const taken = new Set<number>();
  const pair = (fits: (old: WrittenInvocation, now: WrittenInvocation, isSamePlace: boolean) => boolean) => {
    olds.forEach((old, index) => {
      if (pairs.has(index)) return;
      const found = news.findIndex(
        (now, place) => !taken.has(place) && isSameWork(old, now, mapping) && fits(old, now, place === index),
      );
      if (found < 0) return;
      pairs.set(index, found);
      taken.add(found);
    });
  };
  const mapped = ({ id }: WrittenInvocation) => (id === undefined ? undefined : mapping.invocations.get(id));
  pair((old, now) => mapped(old) !== undefined && mapped(old) === now.id);
  pair((old, now) => mapped(old) === undefined && old.named && now.named && old.id === now.id);
  pair((old, now, isSamePlace) => mapped(old) === undefined && !old.named && !now.named && isSamePlace);
  pair((old, now) => mapped(old) === undefined && !old.named && !now.named);
  return pairs;
}

/** Whether two do the same, as far as that is written. */
function isSameWork(old: WrittenInvocation, now: WrittenInvocation, mapping: Mapping): boolean {
  if (old.kind !== now.kind) return false;
  if (old.source === undefined) return true;
  const source = renamed(old.kind === "activity" ? mapping.activities : mapping.children, old.source);
  return source !== null && (now.source === undefined || now.source === source);
}
