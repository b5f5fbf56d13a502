/** Migrations as data. */
import { expect, test } from "vitest";
import { machine, moved } from "../../../test/evolution/versions.ts";
import { type State, start, step } from "../../index.ts";
import { loadMachine } from "../formats/json/read.ts";
import { evolve } from "./evolve.ts";
import { loadMigration } from "./load-migration.ts";

const one = loadMachine(`
id: m
version: 1
context: { type: object, required: [name], properties: { name: { type: string }, tries: { type: integer } } }
start: { name: Ada, tries: 2 }
events: { note: { type: object, properties: { text: { type: string } }, required: [text] } }
initial: a
states: { a: { defer: [note] } }
`);
const two = loadMachine(`
id: m
version: 2
context: { type: object, required: [who, tries], properties: { who: { type: string }, tries: { type: integer } } }
start: { who: Eve, tries: 0 }
events: { remark: { type: object, properties: { words: { type: string } }, required: [words] } }
initial: b
states: { b: { defer: [remark] } }
`);
const source = `
states: { a: b }
context: { who: { cel: "context.name + '!'" }, tries: { cel: "context.tries + at" } }
events: { note: { type: remark, data: { words: { cel: "event.data.text" } } } }
back:
  states: { b: a }
  context: { name: { cel: "context.who.replace('!', '')" }, tries: { cel: "context.tries - 1" } }
  events: { remark: { type: note, data: { text: { cel: "event.data.words" } } } }
`;

test("context and data are made by expressions, typed by both definitions", () => {
  const migration = loadMigration(one, two, source);
  const first = start(one, undefined, { at: 0 }).state;
  const state = step(one, first, { type: "note", data: { text: "hm" } }, { at: 1 }).state;
  const there = moved(evolve(one, two, state, { at: 1, migration })).step.state;
  expect(there).toMatchObject({ configuration: ["b"], context: { who: "Ada!", tries: 3 } });
  expect(there.deferred).toEqual([{ type: "remark", data: { words: "hm" } }]);
  const back = moved(evolve(two, one, there, { at: 3, migration, reverse: true })).step.state;
  expect(back).toEqual({ ...state, seq: state.seq + 2 } satisfies State);
});

test("everything that is wrong is told at once", () => {
  const broken = {
    states: { c: "b" },
    context: { who: { cel: "context.nme" }, tries: { cel: "'two'" } },
    events: { note: { type: "remark", data: { words: { cel: "1" } } } },
    back: 7,
  };
  expect(() => loadMigration(one, two, broken)).toThrow(
    /context\.who .*nme[\s\S]*context\.tries[\s\S]*events\.note\.data[\s\S]*states\.c[\s\S]*back is 7/,
  );
  expect(() => loadMigration(one, two, "{ not: [ json")).toThrow("migration");
  expect(() => loadMigration(one, two, "7")).toThrow("migration is 7");
});

test("between machines in code, expressions are not typed, and names are all there is to map", () => {
  const coded = [
    machine(1, { start: { n: 1 }, states: { a: { entry: { log: () => 1 } } } }),
    machine(2, {}),
  ] as const;
  const migration = loadMigration(...coded, { context: { m: { cel: "context.n" } }, events: { x: null } });
  const state = start(coded[0], undefined, { at: 0 }).state;
  expect(moved(evolve(...coded, state, { at: 1, migration })).step.state.context).toEqual({ m: 1 });
  const hearing = machine(3, { states: { a: { on: { "*": "a" } } } });
  const late = start(machine(1, { entry: { send: { type: "x", delay: 5 } } }), undefined, { at: 0 }).state;
  const from = machine(1, { entry: { send: { type: "x", delay: 5 } }, states: { a: { on: { x: "a" } } } });
  const changed = loadMigration(from, hearing, { events: { x: { type: "y", data: { cel: "event.type" } } } });
  const { timers } = moved(evolve(from, hearing, late, { at: 1, migration: changed })).step.state;
  expect(timers[0]?.event).toEqual({ type: "y", data: "x" });
});
