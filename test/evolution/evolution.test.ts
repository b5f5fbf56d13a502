/**
 * Evolution on random pairs of versions and random runs of the first. A failure prints the seed; `drawPair(seed)` gives
 * the pair again.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareDefinitions } from "../../src/core/evolve/compare.ts";
import { type Evolved, evolve } from "../../src/core/evolve/evolve.ts";
import { defineMigration } from "../../src/core/evolve/migration.ts";
import type { EvolutionProblem, Pending } from "../../src/core/evolve/report.ts";
import { defineMachine, type Machine } from "../../src/core/machine.ts";
import { restore } from "../../src/core/restore.ts";
import { type Event, isHoldfastError, type State, settledEvent, start, step } from "../../src/index.ts";
import { drawPair, type Pair } from "./pairs.ts";

const seeds = fc.noShrink(fc.nat({ max: 0x7fff_ffff }));
const at = 1_000;

/** The states a run of the first version goes through. */
function* statesOf({ from, events }: Pair): Generator<State> {
  let state: State;
  try {
    state = start(from, undefined, { at: 0 }).state;
  } catch (error) {
    if (isHoldfastError(error)) return;
    throw error;
  }
  for (const [index, event] of events.entries()) {
    yield state;
    if (state.status !== "active") return;
    state = step(from, state, event, { at: index }).state;
    const [activity] = state.activities;
    if (index % 3 === 2 && activity !== undefined)
      state = step(from, state, settledEvent(activity, {}), { at: index }).state;
  }
}

const line = ({ kind, name, key = "" }: Pending) => `${kind} ${name} ${key}`;

function pendingOf(state: State): string[] {
  return [
    ...state.timers.map(({ event, key }) => `timer ${event.type} ${key}`),
    ...state.activities.map(({ activity, key }) => `activity ${activity} ${key}`),
    ...state.children.map(({ machine, key }) => `child ${machine} ${key}`),
    ...state.deferred.map(({ type }) => `event ${type} `),
    ...Object.keys(state.history).map((path) => `history ${path} `),
  ].sort();
}

function told({ report }: Evolved): string[] {
  const { survived, changed, dropped, ended, refused } = report;
  const all = [...survived, ...changed.map(({ before }) => before), ...dropped, ...ended];
  return [...all, ...refused.flatMap(({ pending }) => pending ?? [])].map(line).sort();
}

/** What a run of a version does next, whatever it is: nothing it is given makes it fail. */
function goesOn(machine: Machine, first: State, events: readonly Event[]): void {
  let state = first;
  for (const { event, key, due } of first.timers)
    state = step(machine, state, { ...event, timer: key }, { at: Math.max(at, due) }).state;
  for (const activity of first.activities)
    state = step(machine, state, settledEvent(activity, { output: 1 }), { at }).state;
  for (const event of events) state = step(machine, state, event, { at: at + 100 }).state;
  restore(machine, JSON.parse(JSON.stringify(state)));
}

/** All a run may be asked to do, and what came of it. */
function* tries(
  pair: Pair,
): Generator<{ readonly state: State; readonly evolved: Evolved; readonly drop: boolean }> {
  const { from, to, states } = pair;
  const lettingGo = { events: { later: null, "a.x": null }, activities: { read: null } };
  const parts = [
    lettingGo,
    ...(states === undefined ? [] : [{ states: states.there }, { states: states.there, ...lettingGo }]),
  ];
  const migrations = [{}, ...parts.map((part) => ({ migration: defineMigration(from, to, part) }))];
  for (const state of statesOf(pair))
    for (const migration of migrations)
      for (const drop of [false, true])
        yield { state, drop, evolved: evolve(from, to, state, { at, drop, ...migration }) };
}

describe("evolution of random runs", () => {
  test("B9: tells of everything pending exactly once, and a run that has moved goes on in its new version", () => {
    const seen = { moved: 0, refused: 0, changed: 0, dropped: 0, begun: 0 };
    fc.assert(
      fc.property(seeds, (seed) => {
        const pair = drawPair(seed);
        // One that has met no configuration yet, and so believes none.
        const fresh = defineMachine(pair.to.definition);
        for (const { state, evolved, drop } of tries(pair)) {
          expect(told(evolved)).toEqual(pendingOf(state));
          const { report } = evolved;
          seen[evolved.outcome]++;
          for (const key of ["changed", "dropped", "begun"] as const) seen[key] += report[key].length;
          expect(report.refused.length > 0).toBe(evolved.outcome === "refused");
          if (drop) expect(report.refused.flatMap(({ pending }) => pending ?? [])).toEqual([]);
          if (evolved.outcome === "refused") continue;
          const { state: after, effects } = evolved.step;
          expect([after.version, after.seq, after.machine]).toEqual([2, state.seq + 1, "m"]);
          expect(restore(fresh, JSON.parse(JSON.stringify(after)))).toEqual(after);
          const cancelled = effects.flatMap((effect) => (effect.type === "cancel" ? [effect.key] : []));
          const dropped = report.dropped.flatMap(({ key }) => key ?? []);
          expect(dropped.filter((key) => !cancelled.includes(key))).toEqual([]);
          if (after.status === "active") goesOn(pair.to, after, pair.events);
        }
      }),
      { numRuns: 100 },
    );
    // A property of nothing is no property.
    for (const [name, count] of Object.entries(seen)) expect([name, count > 20]).toEqual([name, true]);
  });

  test("is the same for the same, and leaves the state it began with alone", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const pair = drawPair(seed);
        for (const state of statesOf(pair)) {
          const before = JSON.stringify(state);
          const once = evolve(pair.from, pair.to, state, { at });
          expect(JSON.stringify(evolve(pair.from, pair.to, state, { at }))).toBe(JSON.stringify(once));
          expect(JSON.stringify(state)).toBe(before);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("B9: there and back again, a run is what it was", () => {
    let count = 0;
    fc.assert(
      fc.property(seeds, (seed) => {
        const { from, to, states, ...pair } = drawPair(seed);
        if (states === undefined) return;
        const migration = defineMigration(from, to, { states: states.there, back: { states: states.back } });
        for (const state of statesOf({ from, to, states, ...pair })) {
          const there = evolve(from, to, state, { at, migration });
          if (state.status !== "active") continue;
          expect(there.report.refused).toEqual([]);
          if (there.outcome === "refused") continue;
          expect([there.report.dropped, there.report.begun]).toEqual([[], []]);
          const back = evolve(to, from, there.step.state, { at, migration, reverse: true });
          // What a guard that looks at the event lets through now is the machine's own business.
          if (there.report.ended.length > 0 || there.step.state.context !== state.context) continue;
          expect(back.outcome === "moved" && back.step.state).toEqual({ ...state, seq: state.seq + 2 });
          count++;
        }
      }),
      { numRuns: 100 },
    );
    expect(count).toBeGreaterThan(100);
  });

  test("what the comparison of two versions calls harmless stands in no run's way", () => {
    const seen = { harmless: 0, breaking: 0 };
    // What user code makes of a run that has moved is not known before.
    const isForeseen = ({ path, problem }: EvolutionProblem) =>
      path !== "step" && !problem.startsWith("cannot begin") && !problem.endsWith("where the run would be");
    fc.assert(
      fc.property(seeds, (seed) => {
        const pair = drawPair(seed);
        const { breaks } = compareDefinitions(pair.from, pair.to);
        seen[breaks ? "breaking" : "harmless"]++;
        for (const state of breaks ? [] : statesOf(pair))
          if (state.status === "active")
            expect(evolve(pair.from, pair.to, state, { at }).report.refused.filter(isForeseen)).toEqual([]);
        expect(compareDefinitions(pair.from, pair.from)).toEqual({ changes: [], breaks: false });
      }),
      { numRuns: 200 },
    );
    expect([seen.harmless > 5, seen.breaking > 20]).toEqual([true, true]);
  });
});
