/** Guards and updates by name, with parameters. */
import { describe, expect, test } from "vitest";
import { defineMachine, type MachineDefinition, simulate, validate } from "../index.ts";
import { plainModel } from "./plain-model.ts";

const machineWith = (go: object, parts: object = {}): MachineDefinition =>
  ({
    id: "m",
    start: { n: 1 },
    initial: "a",
    states: { a: { on: { go } }, b: {} },
    ...parts,
  }) as MachineDefinition;
const lines = (go: object, parts: object = {}) =>
  validate(machineWith(go, parts)).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );

describe("a guard or an update with parameters", () => {
  const guards = { above: ({ context }: { context: { n: number } }, least: number) => context.n > least };
  const updates = {
    add: (draft: { n: number }, _: unknown, by: number) => {
      draft.n += by;
    },
  };
  const go = {
    guard: { type: "above", params: () => 0 },
    update: { type: "add", params: 5 },
    target: "b",
  };

  test("gets them after the rest, computed each time", () => {
    const run = simulate(defineMachine(machineWith(go, { guards, updates })));
    run.send("go");
    expect(run.state).toMatchObject({ configuration: ["b"], context: { n: 6 } });
  });

  test("may be bound later", () => {
    const machine = defineMachine(machineWith(go));
    expect(machine.missing).toEqual(['guard "above"', 'update "add"']);
    expect(machine.implement({ guards, updates } as never).missing).toEqual([]);
  });

  test("is checked like any other", () => {
    expect(lines({ guard: { type: "abov", parms: 1 } }, { guards })).toEqual([
      'states.a.on.go.guard.parms is no key of a reference; did you mean "params"? there are type, params',
      'states.a.on.go.guard.type names no guard: "abov"; did you mean "above"? there are above',
    ]);
    expect(lines({ update: { type: "ad", parms: 1 } }, { updates })).toEqual([
      'states.a.on.go.update.parms is no key of a reference; did you mean "params"? there are type, params',
      'states.a.on.go.update.type names no update: "ad"; there are add',
    ]);
    expect(lines({ guard: { type: "both" } }, { guards: { both: { in: "a" } } })).toEqual([
      'states.a.on.go.guard gives parameters to "both", which is not a function',
    ]);
    expect(lines({ update: { type: "add" } }, { updates: { add: {} } }).at(-1)).toContain("is not an update");
  });

  test("is told from a field called type, where updates are data", () => {
    const seen: unknown[] = [];
    const model = {
      ...plainModel,
      name: "data",
      update: (source: unknown) => {
        seen.push(source);
        return ({ context }: { context: object }) => context;
      },
    };
    expect(lines({ update: { type: "urgent" } }, { model })).toEqual([]);
    expect(seen).toEqual([{ type: "urgent" }]);
    expect(lines({ update: { type: "add", params: 1 } }, { model, updates })).toEqual([]);
    expect(seen).toHaveLength(3);
  });
});
