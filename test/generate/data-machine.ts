/**
 * Random machines as data that must load: every key of the published schema turns up, every target exists, every
 * expression is well typed. What is drawn depends on its seed alone.
 */
import type { Json, JsonObject } from "../../src/index.ts";
import { createRandom, type Random } from "./random.ts";

type Draft = Record<string, Json>;

const contextSchema: JsonObject = {
  type: "object",
  required: ["n", "text", "list", "flag"],
  properties: {
    n: { type: "integer" },
    price: { type: "number", minimum: 0 },
    text: { type: "string", maxLength: 10_000 },
    list: { type: "array", items: { type: "integer" } },
    flag: { type: "boolean" },
    inner: { type: "object", properties: { a: { type: ["string", "null"] } } },
    any: true,
  },
};

const booleans = [
  "context.n < 10",
  "context.flag || context.n % 2 == 0",
  "context.list.exists(x, x > context.n)",
  "has(context.price) && context.price > 1.5",
  "context.text.startsWith('a') || context.text.matches('^[a-z]*$')",
  "size(context.list) <= 3 ? true : !context.flag",
  "'n' in context",
  "at >= 0",
];
const wholes = [
  "context.n + 1",
  "context.n * 2 - 3",
  "context.list.map(x, x + 1).sum()",
  "size(context.text)",
];
const texts = [
  "context.text + 'a'",
  "string(context.n)",
  "['a', context.text].join('-')",
  "context.text.lowerAscii()",
];
const anything = [
  ...booleans,
  ...wholes,
  ...texts,
  "context.?inner.?a",
  "{'a': [context.n, null]}",
  "event.?data",
];

const cel = (text: string): JsonObject => ({ cel: text });

/** Draws one machine. */
export function drawDataMachine(seed: number): JsonObject {
  return new Drawing(createRandom(seed)).machine();
}

class Drawing {
  private readonly random: Random;
  private ids = 0;
  private usesGuard = false;

  constructor(random: Random) {
    this.random = random;
  }

  private maybe(draft: Draft, key: string, chance: number, make: () => Json): void {
    if (this.random.chance(chance)) draft[key] = make();
  }

  private pick<Item>(items: readonly Item[]): Item {
    return this.random.pick(items);
  }

  machine(): JsonObject {
    const keys = this.keys();
    const states = this.states(keys, 0);
    const machine: Draft = { id: this.pick(["m", "a machine", "Ünï"]), initial: this.pick(keys), states };
    machine.context = contextSchema;
    machine.start = { n: cel("input.?n.orValue(0)"), text: "a", list: [1, 2], flag: false };
    machine.events = { go: { type: "object", properties: { by: { type: "integer" } } }, stop: true };
    machine.activities = {
      work: {
        input: { type: "object", properties: { n: { type: "integer" } } },
        output: { type: "integer" },
        description: "works",
      },
    };
    machine.input = { type: "object", properties: { n: { type: "integer" } } };
    this.maybe(machine, "$schema", 0.2, () => "./machine.schema.json");
    this.maybe(machine, "version", 0.5, () => this.random.between(1, 9));
    this.maybe(machine, "unhandled", 0.3, () =>
      this.pick<Json>(["reject", { known: "ignore", unknown: "defer" }]),
    );
    this.maybe(machine, "priorities", 0.2, () => ({ "go.*": 2, stop: -1 }));
    this.maybe(machine, "matching", 0.2, () => "scxml");
    this.maybe(machine, "limits", 0.2, () => ({ steps: 100, time: "2 days", cost: 1.5 }));
    this.maybe(machine, "checkpoint", 0.2, () => this.pick<Json>(["manual", { every: 3 }]));
    this.maybe(machine, "invariants", 0.3, () => ({ bounded: cel("context.n < 1000000") }));
    this.maybe(machine, "on", 0.3, () => ({ "*": { actions: [{ log: "?" }] } }));
    if (this.usesGuard) machine.guards = { known: cel(this.pick(booleans)) };
    return machine;
  }

  private keys(): string[] {
    return ["a", "b", "c", "d with space"].slice(0, this.random.between(1, 4));
  }

  private states(keys: readonly string[], depth: number): JsonObject {
    return Object.fromEntries(keys.map((key) => [key, this.state(keys, depth)]));
  }

  private state(siblings: readonly string[], depth: number): JsonObject {
    const { random } = this;
    const state: Draft = {};
    this.maybe(state, "description", 0.1, () => "what for");
    this.maybe(state, "meta", 0.1, () => ({ x: [1, null, "…"] }));
    this.maybe(state, "tags", 0.1, () => ["busy"]);
    this.maybe(state, "id", 0.2, () => `id${this.ids++}`);
    if (random.chance(0.15)) {
      this.maybe(state, "output", 0.6, () => ({ all: [cel(this.pick(anything)), 1] }));
      return { ...state, type: "final" };
    }
    if (depth < 3 && random.chance(0.35)) this.fill(state, depth);
    const transitions = () => this.transitions(siblings);
    this.maybe(state, "on", 0.6, () => this.handlers(siblings));
    this.maybe(state, "always", 0.15, transitions);
    this.maybe(state, "after", 0.3, () =>
      random.chance(0.5)
        ? { "1 day": transitions() }
        : [
            {
              delay: this.pick<Json>([100, "30s", cel("context.n * 1000")]),
              resume: "remaining",
              target: this.pick(siblings),
            },
          ],
    );
    this.maybe(state, "entry", 0.4, () => this.actions());
    this.maybe(state, "exit", 0.2, () => [[{ log: 1 }], [this.action()]]);
    this.maybe(state, "invoke", 0.3, () => this.invoke(siblings));
    this.maybe(state, "defer", 0.1, () => ["go"]);
    this.maybe(state, "require", 0.1, () => ({ fine: this.guard() }));
    this.maybe(state, "ensure", 0.1, () => ({ grows: cel("context.n >= old.n") }));
    return state;
  }

  private fill(state: Draft, depth: number): void {
    const keys = this.keys();
    if (this.random.chance(0.3)) {
      // Regions of a parallel state are not final and have no siblings to go to.
      state.type = "parallel";
      state.states = Object.fromEntries(
        keys.map((key) => [key, { initial: "x", states: { x: this.state(["x"], depth + 2) } }]),
      );
      this.maybe(state, "writes", 0.5, () => this.pick<Json>(["last", { n: "first" }]));
      return;
    }
    const states: Draft = { ...this.states(keys, depth + 1) };
    if (this.random.chance(0.3))
      states.back = { type: "history", history: "deep", target: keys[0] as string };
    state.states = states;
    state.initial = this.random.chance(0.5)
      ? (keys[0] as string)
      : { target: keys[0] as string, actions: [this.action()] };
  }

  private handlers(siblings: readonly string[]): Json {
    if (this.random.chance(0.8))
      return { [this.pick(["go", "stop", "other.*", "*"])]: this.transitions(siblings) };
    return [{ event: this.pick<Json>(["go", ["go", "stop"]]), target: this.pick(siblings) }];
  }

  private transitions(siblings: readonly string[]): Json {
    if (this.random.chance(0.3)) return this.pick(siblings);
    const guarded = { target: this.pick(siblings), guard: this.guard(), update: this.update() };
    return this.random.chance(0.5) ? guarded : [guarded, { actions: this.actions(), reenter: true }];
  }

  private guard(): Json {
    const roll = this.random.next();
    if (roll < 0.1) {
      this.usesGuard = true;
      return "known";
    }
    if (roll < 0.2) return { and: [cel(this.pick(booleans)), { not: cel(this.pick(booleans)) }] };
    if (roll < 0.3) return { or: [cel(this.pick(booleans)), cel("inState('a')")] };
    return cel(this.pick(booleans));
  }

  private update(): Json {
    const update: Draft = {};
    this.maybe(update, "n", 0.5, () => cel(this.pick(wholes)));
    this.maybe(update, "text", 0.3, () => cel(this.pick(texts)));
    this.maybe(update, "inner.a", 0.3, () => this.pick<Json>([null, "x", cel("context.text")]));
    this.maybe(update, "any", 0.3, () => ({ deep: [cel(this.pick(anything)), { b: true }] }));
    return update;
  }

  private actions(): Json {
    return this.random.chance(0.5) ? this.action() : [this.action(), this.action()];
  }

  private action(): JsonObject {
    return this.pick<() => JsonObject>([
      () => ({ update: this.update() }),
      () => ({ raise: { type: "go", data: { by: cel("context.n") } } }),
      () => ({ send: { type: "stop", delay: "1 h", id: "later", to: "self" } }),
      () => ({
        send: {
          type: cel("'x' + string(context.n)"),
          data: cel("context"),
          to: { run: cel("'run-' + context.text") },
        },
      }),
      () => ({ cancel: "later" }),
      () => ({ emit: "seen" }),
      () => ({ log: cel(this.pick(anything)), label: "l" }),
      () => ({ choose: [{ guard: this.guard(), actions: { log: 1 } }, { actions: [] }] }),
      () => ({ reply: cel("context.n") }),
      () => ({ stop: "child" }),
      () => ({ spawn: { machine: "other", id: "child", input: { n: 1 } } }),
    ])();
  }

  private invoke(siblings: readonly string[]): Json {
    const to = () => this.transitions(siblings);
    if (this.random.chance(0.3))
      return { machine: "other", autoforward: true, input: cel("context"), onDone: to() };
    const done = { target: this.pick(siblings), update: { n: cel("event.data + 1") } };
    const more = {
      retry: { attempts: 3, first: "1s" },
      timeout: "1 min",
      heartbeat: 500,
      once: true,
      onUnknown: to(),
    };
    const flow = {
      concurrency: { limit: 2, key: cel("'customer ' + string(context.n)"), scope: "all" },
      rate: { limit: 10, per: "1 min" },
      priority: cel("context.n"),
    };
    const undo = { compensate: { activity: "work", input: { n: cel("event.data") } } };
    return {
      activity: "work",
      input: { n: cel("context.n") },
      onDone: done,
      onError: to(),
      ...(this.random.chance(0.5) ? more : undo),
      ...(this.random.chance(0.3) ? flow : undefined),
    };
  }
}
