/**
 * The oracle: the literal algorithm behind the same two pure verbs as the core, from one plain state to the next. It
 * says what must happen; the core is right when it says the same.
 */
import type { MachineDefinition } from "../../src/core/definition.ts";
import type { Event } from "../../src/core/event.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { State } from "../../src/core/state.ts";
import { type Document, readDocument, type StateNode } from "./document.ts";
import { Interpreter, Unbounded } from "./interpreter.ts";
import { documentOrder, isAtomicState } from "./relations.ts";

/** The part of a run's state that the algorithm speaks of. */
export type OracleState = Pick<State, "configuration" | "context" | "history" | "output"> & {
  readonly status: "active" | "done";
};

export interface OracleStep {
  readonly state: OracleState;
  readonly logs: readonly Json[];
  readonly errors: readonly string[];
  readonly outcome: "taken" | "ignored";
}

export interface Oracle {
  /** Undefined when the step would never end. */
  start(): OracleStep | undefined;
  step(state: OracleState, event: Event): OracleStep | undefined;
}

/** Any variant of the algorithm. */
export type Algorithm = new (document: Document, context: JsonObject, event: Event) => Interpreter;

export function createOracle(definition: MachineDefinition, Variant: Algorithm = Interpreter): Oracle {
  const document = readDocument(definition);
  return {
    start: () => {
      const interpreter = new Variant(document, definition.start as JsonObject, {
        type: "start",
        kind: "platform",
      });
      return bounded(() => {
        interpreter.interpret();
        return stepOf(interpreter, document, "taken");
      });
    },
    step: (state, event) => {
      const interpreter = new Variant(document, state.context, event);
      restore(interpreter, state, document);
      return bounded(() => {
        interpreter.mainEventLoop(event);
        return stepOf(interpreter, document, interpreter.microsteps > 0 ? "taken" : "ignored");
      });
    },
  };
}

function bounded(run: () => OracleStep): OracleStep | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof Unbounded) return undefined;
    throw error;
  }
}

function stepOf(interpreter: Interpreter, document: Document, outcome: OracleStep["outcome"]): OracleStep {
  const { context, logs, errors, output, running } = interpreter;
  const active = interpreter.endedIn ?? interpreter.configuration.toList();
  const history = document.states.flatMap((node): [string, string[]][] => {
    const remembered = interpreter.historyValue.get(node);
    return remembered === undefined ? [] : [[node.path, pathsOf(remembered)]];
  });
  return {
    state: {
      status: running ? "active" : "done",
      configuration: pathsOf(active.filter(isAtomicState)),
      context,
      history: Object.fromEntries(history),
      ...(output === undefined ? {} : { output }),
    },
    logs,
    errors,
    outcome,
  };
}

const pathsOf = (nodes: readonly StateNode[]): string[] =>
  [...nodes].sort(documentOrder).map(({ path }) => path);

/** Fills an interpreter with a state: the active leaves and all that contains them, and what history remembers. */
function restore(interpreter: Interpreter, state: OracleState, document: Document): void {
  const active = (node: StateNode): boolean =>
    state.configuration.some(
      (path) => path === node.path || path.startsWith(`${node.path}.`) || node.path === "",
    );
  for (const node of document.states) {
    if (node.type !== "history" && active(node)) interpreter.configuration.add(node);
    const remembered = state.history[node.path];
    if (remembered !== undefined)
      interpreter.historyValue.set(
        node,
        remembered.map((path) => document.states.find((other) => other.path === path)!),
      );
  }
}
