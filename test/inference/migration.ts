/**
 * What the compiler knows of a migration between two machines that declare schemas. As in `promises.ts`, each promise
 * has a line that compiles and a line that must not. Nothing here runs.
 */
import { z } from "zod";
import { asState, defineMachine, defineMigration } from "../../src/index.ts";

const inner = defineMachine({
  id: "inner",
  context: z.object({ name: z.string() }),
  initial: "x",
  states: { x: {} },
});

const one = defineMachine({
  id: "trip",
  version: 1,
  context: z.object({ name: z.string() }),
  events: { choose: z.object({ flight: z.string() }), stop: z.object({}) },
  activities: { search: {}, book: {} },
  initial: "searching",
  states: {
    searching: { invoke: { activity: "search" }, on: { choose: "choosing.first" } },
    choosing: { initial: "first", states: { first: { after: { "1h": "second" } }, second: {} } },
    part: asState(inner),
  },
});
const two = defineMachine({
  id: "trip",
  version: 2,
  context: z.object({ first: z.string(), last: z.string() }),
  events: { pick: z.object({ option: z.string() }), stop: z.object({}) },
  activities: { find: {}, book: {} },
  initial: "finding",
  states: { finding: { invoke: { activity: "find" } }, choosing: { initial: "all", states: { all: {} } } },
});
const three = defineMachine({
  id: "trip",
  version: 3,
  context: z.object({ first: z.string() }),
  initial: "finding",
  states: { finding: {} },
});

defineMigration(one, two, {
  context: ({ name }) => ({ first: name, last: "" }),
  states: {
    searching: "finding",
    "choosing.first": "choosing.all",
    "choosing.second": ["choosing.all"],
    "part.x": "finding",
  },
  events: {
    choose: { type: "pick", data: ({ flight }) => ({ option: flight }) },
    stop: null,
    "after.choosing.first.0": null,
  },
  activities: { search: "find", book: null },
  back: {
    context: ({ first }) => ({ name: first }),
    states: { finding: "searching" },
    events: { pick: "stop" },
  },
});

// A context that is not one of the new ones as it is.
// @ts-expect-error needs a context
defineMigration(one, two, {});
// @ts-expect-error the way back needs one too
defineMigration(one, two, { context: () => ({ first: "", last: "" }), back: {} });
// A context that is.
defineMigration(two, three, { back: { context: ({ first }) => ({ first, last: "" }) } });
// @ts-expect-error not what the new machine holds
defineMigration(one, two, { context: () => ({ first: 1, last: "" }) });

const context = () => ({ first: "", last: "" });
defineMigration(one, two, {
  context,
  states: {
    // @ts-expect-error no such state now
    searching: "serching",
    // @ts-expect-error nor in a list
    "choosing.first": ["choosing.all", "choosing.some"],
  },
});
// @ts-expect-error no such state before
defineMigration(one, two, { context, states: { serching: "finding" } });
// @ts-expect-error nor inside another
defineMigration(one, two, { context, states: { "choosing.third": "finding" } });
defineMigration(one, two, {
  context,
  events: {
    // @ts-expect-error no such event now
    choose: "picked",
    // @ts-expect-error not what the new event holds
    stop: { type: "pick", data: () => ({ flight: "" }) },
  },
});
// @ts-expect-error no such event before
defineMigration(one, two, { context, events: { chose: "pick" } });
// @ts-expect-error no such activity before
defineMigration(one, two, { context, activities: { serch: "find" } });
// @ts-expect-error no such activity now
defineMigration(one, two, { context, activities: { search: "fnd" } });
// @ts-expect-error no part of a migration
defineMigration(one, two, { context, sates: {} });

// Machines without schemas say nothing, so that any name goes.
const plain = defineMachine({ id: "plain", initial: "a", states: { a: {} } });
defineMigration(plain, plain, { states: { a: "b" }, events: { x: "y" }, activities: { x: null } });
