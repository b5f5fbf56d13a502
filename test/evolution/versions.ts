/** Two versions of a machine, a run of the first, and what becomes of it in the second. */
import { expect } from "vitest";
import { type Evolved, type EvolveOptions, evolve } from "../../src/core/evolve/evolve.ts";
import { defineMigration } from "../../src/core/evolve/migration.ts";
import {
  defineMachine,
  type Event,
  type Machine,
  type MachineDefinition,
  type State,
  start,
  step,
} from "../../src/index.ts";

export const at = 1_000;

export type Draft = Partial<MachineDefinition>;
export const machine = (version: number, parts: Draft): Machine =>
  defineMachine({ id: "m", version, initial: "a", states: { a: {} }, ...parts } as MachineDefinition);

export const count = (draft: object): object => Object.assign(draft, { n: (draft as { n: number }).n + 1 });

export const begin = (given: Machine, ...events: Event[]): State =>
  events.reduce(
    (state, event) => step(given, state, event, { at: 10 }).state,
    start(given, undefined, { at: 0 }).state,
  );

/** The step, if the run has moved. */
export function moved(evolved: Evolved): Extract<Evolved, { outcome: "moved" }> {
  expect(evolved.report.refused).toEqual([]);
  return evolved as Extract<Evolved, { outcome: "moved" }>;
}

export function refusal(evolved: Evolved): string[] {
  expect(evolved.outcome).toBe("refused");
  return evolved.report.refused.map(({ path, problem, fix }) => [path, problem, fix].join(" | "));
}

/** Evolves without a migration, or with one of these parts. */
export function go(
  from: Machine,
  to: Machine,
  state: State,
  parts?: object,
  options: Partial<EvolveOptions> = {},
): Evolved {
  const migration = parts === undefined ? {} : { migration: defineMigration(from, to, parts) };
  return evolve(from, to, state, { at, ...migration, ...options });
}
