/**
 * Composing machines: one machine as a state of another. What it had to itself must hold in its new place:
 * C1. Guards and updates that it has under a name are put in where the name stands, so that no other machine's are meant.
 * C2. Targets of the machine itself named its states, and still do, whatever stands beside them now.
 */
import { listOf, type Parts } from "./compiler.ts";
import { type MachineTypes, machineKeys } from "./definition.ts";
import type { EventShape } from "./event.ts";
import type { Composed } from "./infer-state.ts";
import { isObject } from "./json.ts";
import type { Machine } from "./machine.ts";
import type { Scope } from "./scope.ts";

/**
 * The states of a machine as one state of another: what was final for the machine is now done for that state. Spread it
 * to add handlers, `{ ...asState(paying), onDone: "paid" }`. Its guards and updates come along; activities, child machines
 * and what it leaves unbound are the surrounding machine's to have.
 */
export function asState<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
  machine: Machine<Context, Ev, Input, Types>,
): Composed<Context> {
  const { guards = {}, updates = {}, model } = machine.definition;
  const binder = new Binder({ guards, updates, plain: model === undefined });
  const state: Record<string, unknown> = { ...binder.state(machine.definition as unknown as Parts, inward) };
  for (const key of machineKeys) delete state[key];
  return state as unknown as Composed<Context>;
}

/** A target of the machine itself, as a state has to write it. */
const inward = (target: unknown): unknown =>
  typeof target === "string" && !/^[.#]/.test(target) ? `.${target}` : target;
const asIs = (target: unknown): unknown => target;

type Each = (given: unknown) => unknown;
type Judge = (scope: Scope, params?: unknown) => boolean;

/** One or many, each turned into something else. */
const each = (given: unknown, turn: Each): unknown => (Array.isArray(given) ? given.map(turn) : turn(given));
/** The same parts, some of them turned into something else. */
function turned(parts: Parts, turns: Readonly<Record<string, Each>>): Parts {
  const made = Object.entries(turns).filter(([key]) => parts[key] !== undefined);
  return { ...parts, ...Object.fromEntries(made.map(([key, turn]) => [key, turn(parts[key])])) };
}
const entries = (given: unknown, turn: Each): unknown =>
  Object.fromEntries(Object.entries(given as Parts).map(([key, value]) => [key, turn(value)]));

/** Puts in what names stand for, in the parts of a definition that a machine was made of. */
class Binder {
  readonly #guards: Parts;
  readonly #updates: Parts;
  /** Whether parameters are values and functions, and not text that only a data model can read. */
  readonly #plain: boolean;

  constructor({ guards, updates, plain }: { guards: Parts; updates: Parts; plain: boolean }) {
    this.#guards = guards;
    this.#updates = updates;
    this.#plain = plain;
  }

  state(state: Parts, target: Each = asIs): Parts {
    const transitions: Each = (given) => each(given, (one) => this.#transition(one, target));
    const handlers: Each = (given) =>
      Array.isArray(given) ? transitions(given) : entries(given, transitions);
    const invoke: Each = (given) =>
      turned(given as Parts, {
        ...{ onDone: transitions, onError: transitions, onUnknown: transitions },
        finalize: this.#actions,
      });
    return turned(state, {
      ...{ on: handlers, after: handlers, always: transitions, onDone: transitions },
      ...{ entry: this.#actions, exit: this.#actions, actions: this.#actions, update: this.#update },
      ...{ invariants: this.#contracts, require: this.#contracts, ensure: this.#contracts },
      invoke: (given) => each(given, invoke),
      initial: (given) => (isObject(given) ? this.#transition(given, asIs) : given),
      states: (given) => entries(given, (inner) => this.state(inner as Parts)),
    });
  }

  #transition(given: unknown, target: Each): unknown {
    if (!isObject(given)) return target(given);
    return turned(given, {
      target: (name) => each(name, target),
      ...{ guard: this.#guard, update: this.#update, actions: this.#actions },
      ...{ require: this.#contracts, ensure: this.#contracts },
    });
  }

  readonly #contracts: Each = (given) => entries(given, this.#guard);

  readonly #actions: Each = (given) => {
    if (Array.isArray(given)) return given.map(this.#actions);
    const branch: Each = (one) => turned(one as Parts, { guard: this.#guard, actions: this.#actions });
    return turned(given as Parts, {
      update: this.#update,
      choose: (branches) => listOf(branches).map(branch),
    });
  };

  readonly #guard: Each = (given) => {
    if (typeof given === "string")
      return Object.hasOwn(this.#guards, given) ? this.#guard(this.#guards[given]) : given;
    if (!isObject(given)) return given;
    const judge = this.#used(given, this.#guards) as Judge | undefined;
    if (judge !== undefined) return (scope: Scope) => judge(scope, paramsOf(given, scope));
    const all: Each = (conditions) => each(conditions, this.#guard);
    return turned(given, { and: all, or: all, not: this.#guard });
  };

  readonly #update: Each = (given) => {
    if (typeof given === "string") return Object.hasOwn(this.#updates, given) ? this.#updates[given] : given;
    const recipe = isObject(given) ? this.#used(given, this.#updates) : undefined;
    if (typeof recipe !== "function") return recipe ?? given;
    return (draft: unknown, scope: Scope) => recipe(draft, scope, paramsOf(given as Parts, scope));
  };

  /** The code that a use with parameters names, if it is here and its parameters can be worked out. */
  #used({ type, params }: Parts, named: Parts): unknown {
    if (typeof type !== "string" || !Object.hasOwn(named, type)) return undefined;
    return this.#plain || params === undefined ? named[type] : undefined;
  }
}

function paramsOf({ params }: Parts, scope: Scope): unknown {
  return typeof params === "function" ? params(scope) : params;
}
