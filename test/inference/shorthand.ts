/**
 * What the compiler knows of shorthand in a machine that declares schemas: targets, payloads and names as in plain states.
 * Each promise has a line that compiles and a line that must not. Nothing here runs.
 */
import { z } from "zod";
import { defineMachine } from "../../src/index.ts";
import { type Equal, is } from "./promises.ts";

const declared = {
  context: z.object({ n: z.number(), papers: z.array(z.string()), notes: z.array(z.string().nullable()) }),
  events: {
    approve: z.object({ by: z.string() }),
    reject: z.undefined(),
    veto: z.object({ why: z.string() }),
  },
  activities: { read: { input: z.object({ title: z.string() }), output: z.string() }, look: {} },
  start: { n: 0, papers: [], notes: [] },
};
const half = defineMachine({
  id: "half",
  input: z.number(),
  context: z.object({ of: z.number() }),
  start: ({ input }) => ({ of: input }),
  initial: "x",
  states: { x: { type: "final", output: ({ context }) => context.of / 2 } },
});

// `attempt`: the invocation, its errors and its timeout.
defineMachine({
  ...declared,
  id: "attempt",
  initial: "a",
  states: {
    a: {
      attempt: {
        invoke: {
          activity: "read",
          input: ({ context }) => ({ title: String(context.n) }),
          onDone: { target: "b", update: (draft, { event }) => void draft.notes.push(event.data) },
        },
        catch: [
          {
            errors: ["Busy", 429],
            target: "a",
            update: (draft, { event }) => void draft.notes.push(event.data.message),
          },
          "b",
        ],
        timeout: ({ context }) => context.n,
        onTimeout: { target: "b", resume: "restart" },
        finally: { log: ({ context }) => context.n },
      },
    },
    b: {
      invoke: {
        activity: "read",
        input: { title: "" },
        onError: [{ guard: { error: ["Busy", 429] }, target: "a" }],
      },
    },
    c: {
      attempt: {
        invoke: { machine: half, input: 3, onDone: { guard: ({ event }) => event.data > 1 } },
        catch: "a",
      },
    },
  },
});
defineMachine({
  ...declared,
  id: "attempt",
  initial: "a",
  states: {
    // @ts-expect-error errors are for `catch`
    a: { attempt: { invoke: { activity: "read", input: { title: "" }, onError: "b" }, catch: "b" } },
    b: {
      attempt: {
        // @ts-expect-error misspelt
        invoke: { activity: "raed", input: { title: "" } },
        // @ts-expect-error no such state
        catch: [{ errors: ["Busy"], target: "c" }],
      },
    },
  },
});
defineMachine({
  ...declared,
  id: "attempt",
  initial: "a",
  states: {
    // @ts-expect-error a timeout leads somewhere
    a: { attempt: { invoke: { activity: "look" }, catch: "a", timeout: "1 s" } },
    // @ts-expect-error an error leads somewhere
    b: { attempt: { invoke: { activity: "look" } } },
  },
});

// `approval`: who decides, and with which event.
defineMachine({
  ...declared,
  id: "approval",
  initial: "a",
  states: {
    a: {
      approval: {
        ask: { activity: "look" },
        by: ({ event }) => (event.type === "approve" ? event.data.by === "ada" : true),
        timeout: "2 days",
        onApproved: {
          target: "b",
          update: (draft, { event }) => {
            is<Equal<typeof event.data, { by: string }>>();
            draft.notes.push(event.data.by);
          },
        },
        onRejected: [{ guard: ({ event }) => event.data === undefined, target: "c" }, "a"],
        onTimeout: "c",
      },
    },
    b: {
      approval: {
        ask: { emit: "asked" },
        reject: "veto",
        onApproved: "c",
        onRejected: {
          target: "a",
          update: (draft, { event }) => {
            is<Equal<typeof event.data, { why: string }>>();
            draft.notes.push(event.data.why);
          },
        },
      },
    },
    c: {},
  },
});
defineMachine({
  ...declared,
  id: "approval",
  initial: "a",
  states: {
    a: {
      approval: {
        // @ts-expect-error no such event
        approve: "aprove",
        // @ts-expect-error no such state
        onApproved: "d",
        onRejected: "b",
      },
    },
    // @ts-expect-error a no leads somewhere too
    b: { approval: { onApproved: "a" } },
  },
});
defineMachine({
  context: declared.context,
  events: { yes: z.undefined(), no: z.undefined() },
  id: "approval",
  initial: "a",
  states: {
    a: { approval: { approve: "yes", reject: "no", onApproved: "b", onRejected: "b" } },
    // @ts-expect-error there is no event called approve
    b: { approval: { reject: "no", onApproved: "a", onRejected: "a" } },
  },
});

// `map`: the item, the results and the failures.
defineMachine({
  ...declared,
  id: "map",
  initial: "a",
  states: {
    a: {
      map: {
        over: "papers",
        as: "paper",
        activity: "read",
        input: ({ event }) => {
          is<Equal<typeof event.data.paper, string>>();
          is<Equal<typeof event.data.index, number>>();
          return { title: event.data.paper };
        },
        concurrency: 2,
        tolerate: "20%",
        collect: "notes",
        retry: { attempts: 3 },
        onDone: {
          target: "b",
          update: (draft, { event }) => {
            is<Equal<typeof event.data.results, readonly (string | null)[]>>();
            draft.notes = [...event.data.results];
          },
        },
        onError: {
          target: "b",
          update: (draft, { event }) => {
            is<Equal<(typeof event.data.failures)[number]["item"], string>>();
            draft.n = event.data.failures.length;
          },
        },
      },
    },
    b: {
      map: {
        over: [1, 2, 3],
        machine: half,
        collect: { results: "notes" },
        onDone: {
          guard: ({ event }) => event.data.results.every((each) => each !== null && each > 1),
          target: "c",
        },
        onError: "c",
      },
    },
    c: { map: { over: ({ context }) => context.papers, activity: "look", onDone: "a", onError: "b" } },
  },
});
defineMachine({
  ...declared,
  id: "map",
  initial: "a",
  states: {
    // @ts-expect-error no such list
    a: { map: { over: "paper", activity: "look", onDone: "b", onError: "b" } },
    // @ts-expect-error that is no list
    b: { map: { over: "n", activity: "look", onDone: "a", onError: "a" } },
  },
});
defineMachine({
  ...declared,
  id: "map",
  initial: "a",
  states: {
    // @ts-expect-error the item alone is not what the activity is given
    a: { map: { over: "papers", activity: "read", onDone: "b", onError: "b" } },
    b: {
      map: {
        over: "papers",
        activity: "read",
        // @ts-expect-error the item is called `item`
        input: ({ event }) => ({ title: event.data.paper }),
        // @ts-expect-error no such state
        onDone: "c",
        onError: "a",
      },
    },
    // @ts-expect-error it leads somewhere when too many fail
    d: { map: { over: "papers", activity: "look", onDone: "a" } },
  },
});
