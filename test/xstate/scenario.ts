/** A scenario: an XState machine of one shape, and moves that show what the shape means. */
import { type AnyStateMachine, createMachine } from "xstate";
import type { behaviours } from "../../src/core/formats/xstate/topic.ts";
import type { Aspect, Move } from "./compare.ts";

export interface Scenario {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly moves: readonly Move[];
  readonly input?: unknown;
  /** The one documented difference that shows here, and in what it shows. */
  readonly differs?: { readonly topic: keyof typeof behaviours; readonly in: readonly Aspect[] };
}

type Implementations = Readonly<
  Record<"actions" | "guards" | "actors" | "delays", Readonly<Record<string, unknown>>>
>;

/** XState's machine of a configuration, without its types: scenarios also write what they would not allow. */
export function machineOf(config: object, implementations: Partial<Implementations> = {}): AnyStateMachine {
  return createMachine(config as never, implementations as never) as unknown as AnyStateMachine;
}
