/**
 * Random machines on their way to SCXML and back. They say only what can be written, which is everything but functions;
 * what comes back must look the same and do the same, event by event, under the names its document gives it.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { MachineDefinition } from "../../src/core/definition.ts";
import { toScxml } from "../../src/core/formats/scxml/export.ts";
import { defineMachine, type Machine } from "../../src/core/machine.ts";
import { loadScxml } from "../../src/ecmascript/index.ts";
import { definitionOf, eventOf } from "../generate/definition.ts";
import { onlyTransitions, simplePlan } from "./plan.ts";
import { type Behaviour, behaviourOf } from "./shape.ts";

const scxml = await loadScxml();
const seeds = fc.noShrink(fc.nat({ max: 0x7fff_ffff }));
/** Said of machines that read keys exactly, and of no consequence where the machine declares its events. */
const harmless = ["prefix"];
const declared = ["a", "b", "c", "a.x", "a.x.y", "b.z", "d", "r", "s", "r.k", "a.x.q"];

/** The definition without its functions: conditions on data are gone, and what is logged is a constant. */
function writable(definition: MachineDefinition): MachineDefinition {
  let logs = 0;
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit).filter((item) => item !== undefined);
    if (typeof value === "function") return undefined;
    if (typeof value !== "object" || value === null) return value;
    if ("log" in value) return { log: `log ${logs++}` };
    if ("update" in value && Object.keys(value).length === 1) return undefined;
    if ("choose" in value) return undefined;
    const kept = Object.entries(value).map(([key, item]) => [key, visit(item)] as const);
    const parts = Object.fromEntries(kept.filter(([key, item]) => item !== undefined && !isEmpty(key, item)));
    if ("not" in value && parts.not === undefined) return undefined;
    return parts;
  };
  return { ...(visit(definition) as MachineDefinition), start: {} };
}

/** Lists that have lost all they had say nothing, and a list of blocks must not become a block of nothing. */
const isEmpty = (key: string, item: unknown): boolean =>
  ["actions", "entry", "exit"].includes(key) && Array.isArray(item) && item.flat().length === 0;

/** States by their place in document order, since a document gives them other keys. */
function named(machine: Machine): (path: string) => string {
  const byPath = new Map(machine.chart.nodes.map(({ path, index }) => [path, `#${index}`]));
  return (path) => byPath.get(path) ?? path;
}

const visible = (seen: Behaviour | string, name: (path: string) => string) =>
  typeof seen === "string"
    ? seen
    : { ...seen, context: undefined, configuration: seen.configuration.map(name) };

test("a machine without functions comes back as it was", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const plan = simplePlan(seed, "shared", (state) =>
        onlyTransitions(
          state,
          ({ trigger }) => !("events" in trigger) || !trigger.events.some(isAboutErrors),
        ),
      );
      const root = { ...plan, root: { ...plan.root, entry: [], exit: [] } };
      const events = Object.fromEntries(declared.map((type) => [type, {}]));
      const machine = defineMachine({ ...writable(definitionOf(root)), events });
      const sent = plan.events.map(eventOf);
      const ours = behaviourOf(machine, sent);
      // Without their conditions some go round for ever, which takes long and shows nothing.
      fc.pre(!ours.includes("STEP_UNBOUNDED"));
      const { text, notes } = toScxml(machine);
      expect(notes.filter(({ topic }) => !harmless.includes(topic))).toEqual([]);
      const back = scxml(text);
      expect(structureOf(back)).toEqual(structureOf(machine));
      const theirs = behaviourOf(back, sent);
      expect(theirs.map((seen) => visible(seen, named(back)))).toEqual(
        ours.map((seen) => visible(seen, named(machine))),
      );
    }),
    // A state that is its own target beside one outside is left, and does not start again on top of that.
    { numRuns: 200, examples: [[1478359325]] },
  );
});

const isAboutErrors = (event: string) => event.startsWith("error");

/** What stays apart in a document: exact keys, restarts and what only the platform says are written in other ways. */
function structureOf(machine: Machine): unknown {
  const name = named(machine);
  return machine.chart.nodes.map((node) => ({
    kind: node.kind,
    deep: node.deep,
    begins: node.initial?.targets.map(({ path }) => name(path)),
    acts: node.initial?.run !== undefined,
    transitions: node.transitions.length,
    eventless: node.eventless.map(({ targets }) => targets.map(({ path }) => name(path))),
    entry: node.entry.length,
    exit: node.exit.length,
    output: node.output !== undefined,
  }));
}
