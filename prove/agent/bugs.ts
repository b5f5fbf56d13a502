/** Bugs to plant in the agent that is killed: what the proof must find. */
import { bugCalled, type Change, importing } from "../simulation/plant.ts";

export interface Bug {
  readonly name: string;
  /** The moments at which it is hunted. */
  readonly only: string;
  readonly changes: readonly Change[];
}

const [machine, view, work, acting, remembering, listening, tool] = [
  "src/agent/lifecycle/machine.ts",
  "src/agent/lifecycle/view.ts",
  "src/agent/lifecycle/work.ts",
  "src/agent/lifecycle/acting.ts",
  "src/agent/lifecycle/remembering.ts",
  "src/agent/lifecycle/listening.ts",
  "src/agent/tool/tool.ts",
];

export const bugs: readonly Bug[] = [
  {
    name: "a-tool-has-another-key-in-every-attempt",
    only: "calling count",
    changes: [
      {
        file: work,
        find: "{ ...scope, call: call.id }",
        replace: "{ ...scope, call: call.id, key: scope.key + scope.attempt }",
      },
    ],
  },
  {
    name: "what-may-happen-once-is-tried-again",
    only: "calling mail",
    changes: [{ file: tool, find: "...(once ? { once: true as const } : ", replace: "...(false ? {} : " }],
  },
  {
    name: "a-call-of-which-nobody-knows-stays-open",
    only: "calling mail",
    changes: [
      {
        file: acting,
        find: "for (const { item, error } of data.failures)",
        replace: "for (const { item, error } of [])",
      },
    ],
  },
  {
    name: "what-is-said-again-is-heard-again",
    only: "saying asked",
    changes: [
      {
        file: listening,
        find: "return this.#text.startsWith(this.#again) ? [] : this.#catchUp(this.#again);",
        replace: "this.#text += piece.text; return [{ type: 'text', text: piece.text }];",
      },
    ],
  },
  {
    name: "who-comes-back-hears-all-of-it-again",
    only: "saying asked",
    changes: [{ file: listening, find: "if (piece > lastPiece)", replace: "if (true)" }],
  },
  {
    name: "who-comes-back-has-forgotten-the-message",
    only: "waiting",
    changes: [{ file: listening, find: "if (lastPart >= 0) await ear.recall(run, step);", replace: "" }],
  },
  {
    name: "a-cursor-forgets-whose-it-is",
    only: "saying elsewhere do.",
    changes: [
      {
        file: listening,
        find: 'yield run === "" ? value : { ...value, cursor: { run, ...value.cursor } };',
        replace: "yield value;",
      },
    ],
  },
  {
    name: "a-fact-is-noted-again-by-who-comes-next",
    only: "recalling: note",
    changes: [{ file: remembering, find: "scope.key}/", replace: "process.pid}/" }],
  },
  {
    name: "what-is-recalled-is-gone-with-the-process",
    only: "thinking 5",
    changes: [
      {
        file: machine,
        find: "draft.recalled = facts as Draft<RecalledFact>[];",
        replace: "Object.assign(globalThis, { facts }); draft.recalled = [];",
      },
      { file: view, find: "renderRecalled(recalled)", replace: "renderRecalled(globalThis.facts)" },
    ],
  },
  {
    name: "the-summary-before-is-gone-with-the-process",
    only: "summing up",
    changes: [
      {
        file: work,
        find: "await summarise(plan, scope);",
        replace: "await summarise({ ...plan, previous: globalThis.summary }, scope);",
      },
      {
        file: work,
        find: "const { from, to } = plan;",
        replace: "const { from, to } = plan; Object.assign(globalThis, { summary: { text } });",
      },
    ],
  },
];

/** The bug of a name. */
export const findBug = (name: string): Bug => bugCalled(bugs, name);

/** Arguments with which Node runs a script that has this bug in it; none without one. */
export const plantArguments = (bug: string | undefined): string[] =>
  bug === undefined ? [] : importing(new URL("./planted.ts", import.meta.url), findBug(bug).name);
