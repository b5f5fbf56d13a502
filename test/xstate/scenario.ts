/**
 * A scenario: an XState machine of one shape, and moves that show what the shape means. Scenarios write configurations
 * without XState's types, which would refuse some of what it runs; so its makers are here with types that let all pass.
 */
import * as xstate from "xstate";
import type { behaviours } from "../../src/core/formats/xstate/topic.ts";
import type { Aspect, Move } from "./compare.ts";

export interface Scenario {
  readonly name: string;
  readonly machine: xstate.AnyStateMachine;
  readonly moves: readonly Move[];
  readonly input?: unknown;
  /** The one documented difference that shows here, and in what it shows. */
  readonly differs?: { readonly topic: keyof typeof behaviours; readonly in: readonly Aspect[] };
}

type Kind = "actions" | "guards" | "actors" | "delays";

/** XState's machine of a configuration. */
export function machineOf(
  config: object,
  implementations: Partial<Record<Kind, object>> = {},
): xstate.AnyStateMachine {
  return xstate.createMachine(config as never, implementations as never) as unknown as xstate.AnyStateMachine;
}

/** Whatever a scenario says it is. */
type Loose = xstate.AnyEventObject[string];

export interface Given {
  readonly context: xstate.MachineContext;
  readonly event: xstate.AnyEventObject;
  readonly self: Loose;
  readonly enqueue: Loose;
  check(guard: unknown): boolean;
}

type Expression = (given: Given, params: Loose) => unknown;
type Maker<Source> = (source: Source | Expression, options?: object) => object;

export const assign = xstate.assign as unknown as Maker<Readonly<Record<string, unknown>>>;
export const raise = xstate.raise as unknown as Maker<xstate.AnyEventObject>;
export const emit = xstate.emit as unknown as Maker<xstate.AnyEventObject>;
export const cancel = xstate.cancel as unknown as Maker<string>;
export const stopChild = xstate.stopChild as unknown as Maker<string>;
export const spawnChild = xstate.spawnChild as unknown as Maker<string | object>;
export const sendParent = xstate.sendParent as unknown as Maker<xstate.AnyEventObject>;
export const forwardTo = xstate.forwardTo as unknown as Maker<string>;
export const enqueueActions = xstate.enqueueActions as unknown as Maker<Expression>;
export const log = xstate.log as unknown as (value?: unknown, label?: string) => object;
export const sendTo = xstate.sendTo as unknown as (
  to: string | Expression,
  event: xstate.AnyEventObject | Expression,
  options?: object,
) => object;
type Guards = (guards: readonly (string | object | Expression)[]) => object;
export const and = xstate.and as unknown as Guards;
export const or = xstate.or as unknown as Guards;
export const not = xstate.not as unknown as (guard: string | object | Expression) => object;
export const stateIn = xstate.stateIn as unknown as (state: string | object) => object;
