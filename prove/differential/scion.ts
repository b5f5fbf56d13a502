/**
 * Drives SCION, the independent engine, synchronously through a plan.
 *
 * Three things are set right from outside, none of them by touching its code:
 * - it sorts entries and exits by depth, where SCXML says document order; with every depth in its compiled model set to
 *   zero the same sort falls back to document order. https://www.w3.org/TR/scxml/#SelectingTransitions
 * - it goes on selecting transitions after a final state of the root; the model's guards then refuse all of them.
 * - it runs all exit handlers whenever every active leaf is final, wherever those leaves are; here only if the run ended,
 *   and under the event that ended it, which SCION does not pass on.
 */
import scion from "@scion-scxml/core";
import type { Plan } from "../../test/generate/plan.ts";
import { plant } from "../../test/generate/tree.ts";
import { roundsMax } from "../../test/oracle/interpreter.ts";
import type { Behaviour, Observation } from "./observation.ts";
import type { ScionEvent, ScionRun } from "./scion-content.ts";
import { type ScionState, scionId, scionModel } from "./scion-model.ts";

/** The part of SCION's interpreter that the driver uses; its published types leave out most of it. */
interface ScionInterpreter {
  start(): void;
  gen(event: ScionEvent): void;
  on(event: "onBigStepBegin" | "onSmallStepBegin" | "onError", listener: () => void): void;
  getConfiguration(): string[];
  isIn(id: string): boolean;
  _exitInterpreter(event: ScionEvent): void;
  readonly _model: CompiledState;
}

interface CompiledState {
  depth: number;
  readonly states?: readonly CompiledState[];
}

type ScionConstructor = new (
  model: () => ScionState,
  options: { readonly sessionRegistry: Map<string, unknown> },
) => ScionInterpreter;

const { Statechart } = scion as unknown as { readonly Statechart: ScionConstructor };

/** What SCION does with a plan. */
export function runScion(plan: Plan): Behaviour {
  const run: ScionRun = {
    counters: Object.fromEntries(Array.from({ length: plan.counters }, (_, index) => [`c${index}`, 0])),
    log: [],
    ended: false,
    lastEvent: undefined,
    unbounded: false,
    isIn: (id) => interpreter.isIn(id),
  };
  const interpreter = new Statechart(() => scionModel(plan, run), { sessionRegistry: new Map() });
  sortByDocumentOrder(interpreter._model);
  exitOnlyAtTheEnd(interpreter, run);
  stopWithoutEnd(interpreter, run);

  const tree = plant(plan.root);
  const paths = new Map([...tree].map(([key, place]) => [scionId(tree, key), place.path]));
  const observe = (): Observation => ({
    status: run.ended ? "done" : "active",
    configuration: interpreter
      .getConfiguration()
      .map((id) => paths.get(id) ?? id)
      .sort(),
    log: run.log.splice(0),
    counters: { ...run.counters },
  });

  const steps: Observation[] = [];
  interpreter.start();
  for (const event of plan.events) {
    if (run.unbounded) return { steps, unbounded: true };
    steps.push(observe());
    if (run.ended) return { steps, unbounded: false };
    interpreter.gen({ name: event.type, data: { n: event.n } });
  }
  if (run.unbounded) return { steps, unbounded: true };
  steps.push(observe());
  return { steps, unbounded: false };
}

/** SCION has no bound of its own. */
function stopWithoutEnd(interpreter: ScionInterpreter, run: ScionRun): void {
  let rounds = 0;
  const count = (): void => {
    rounds += 1;
    if (rounds > roundsMax) run.unbounded = true;
  };
  interpreter.on("onBigStepBegin", () => {
    rounds = 0;
  });
  interpreter.on("onSmallStepBegin", count);
  interpreter.on("onError", count);
}

function sortByDocumentOrder(state: CompiledState): void {
  state.depth = 0;
  for (const child of state.states ?? []) sortByDocumentOrder(child);
}

function exitOnlyAtTheEnd(interpreter: ScionInterpreter, run: ScionRun): void {
  const exit = interpreter._exitInterpreter;
  interpreter._exitInterpreter = (event) => {
    if (run.ended) exit.call(interpreter, event);
  };
}
