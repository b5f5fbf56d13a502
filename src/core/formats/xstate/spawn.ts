/** Actors: machines become child machines, promises become activities, and the rest is told. */
import type { Action, Expression, Invoke, Transitions } from "../../definition.ts";
import type { Json } from "../../json.ts";
import { defineMachine } from "../../machine.ts";
import { own } from "./guard.ts";
import type { ImportScope } from "./scope.ts";
import { type Code, isMachine, type Parts, promiseCreator, type XStateFunction } from "./source.ts";

type Actor = { readonly machine: string } | { readonly activity: string };

/** What `src` means: the name of a child machine, or of an activity. `fallback` names logic that stands inline. */
function actorOf(src: unknown, fallback: string, at: string, scope: ImportScope): Actor {
  const logic = typeof src === "string" ? own(scope.implementations.actors, src) : src;
  const name = typeof src === "string" ? src : fallback;
  if (isMachine(logic)) {
    const machine = `${scope.id}/${name}`;
    if (!Object.hasOwn(scope.machines, machine)) scope.adopt(logic, machine, at);
    return { machine };
  }
  const creator = promiseCreator(logic);
  const activity = scope.activityName(name);
  if (creator !== undefined) scope.activities[activity] ??= activityOf(creator);
  else scope.notes.add(at, logic === undefined ? "unimplemented" : "actor-logic", `actor ${name}`);
  return { activity };
}

/** The promise's creator gets its input and a signal, as XState calls it. There is nobody to emit to. */
function activityOf(creator: XStateFunction): ImportScope["activities"][string] {
  return (input, { signal }) => creator({ input, signal, emit: () => undefined } as never);
}

/** Adopts every actor that goes by a name: lists that are computed may start any of them. */
export function adoptNamed(scope: ImportScope): void {
  for (const name of Object.keys(scope.implementations.actors)) {
    const actor = actorOf(name, name, `actors.${name}`, scope);
    if ("activity" in actor) machineAround(actor.activity, `actors.${name}`, scope);
  }
}

interface InvokeHandlers {
  readonly onDone?: Transitions;
  readonly onError?: Transitions;
}

/** An invocation of a state, under the id it has in XState. */
export function invokeOf(
  invoke: Parts,
  id: string,
  handlers: InvokeHandlers,
  { at, scope }: { readonly at: string; readonly scope: ImportScope },
): Invoke {
  const actor = actorOf(invoke.src, id, at, scope);
  if (invoke.onSnapshot !== undefined) scope.notes.add(`${at}.onSnapshot`, "on-snapshot");
  if (invoke.systemId !== undefined) scope.notes.add(`${at}.systemId`, "system-id");
  if (invoke.onError === undefined) scope.notes.add(at, "unhandled-error");
  else scope.notes.add(`${at}.onError`, "error-data");
  return { id, ...actor, ...inputOf(invoke.input, scope), ...handlers };
}

function inputOf(input: unknown, scope: ImportScope): { readonly input?: Expression<Json> } {
  return input === undefined ? {} : { input: scope.handlers.expression(input, undefined) as Json };
}

/** `spawnChild`. What is spawned here is a machine; a promise gets one around it. */
export function spawnAction(action: Code, at: string, scope: ImportScope): Action {
  const { src, input, systemId } = action;
  const id = scope.handlers.expression(action.id, undefined) as string | undefined;
  if (systemId !== undefined) scope.notes.add(at, "system-id");
  const actor = actorOf(src, at, at, scope);
  const machine = "machine" in actor ? actor.machine : machineAround(actor.activity, at, scope);
  return { spawn: { machine, ...(id === undefined ? {} : { id }), ...inputOf(input, scope) } };
}

function machineAround(activity: string, at: string, scope: ImportScope): string {
  const name = `${scope.id}/${activity}`;
  scope.notes.add(at, "spawned-promise");
  scope.machines[name] ??= defineMachine<{ input?: Json; output?: Json }>({
    id: name,
    start: ({ input }) => (input === undefined ? {} : { input }),
    initial: "running",
    states: {
      running: {
        invoke: {
          activity,
          input: ({ context }) => context.input as Json,
          onDone: {
            target: "done",
            update: (draft, { event }) => Object.assign(draft, { output: event.data }),
          },
          onError: "failed",
        },
      },
      done: { type: "final", output: ({ context }) => context.output as Json },
      failed: { type: "final" },
    },
  });
  return name;
}
