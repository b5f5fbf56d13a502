/**
 * XState machines of many shapes, imported and run beside XState itself. Both must show the same after every move,
 * except where `docs/xstate.md` says otherwise: each scenario that differs names the one difference it shows, a
 * difference that does not show is a failure, and so is one that no scenario shows.
 */
import { describe, expect, test } from "vitest";
import { behaviours, losses } from "../../src/core/formats/xstate/topic.ts";
import { read } from "../project.ts";
import { assigning, sending, telling } from "./action.ts";
import { machines, promises } from "./actor.ts";
import { compare } from "./compare.ts";
import { enqueueing } from "./enqueue.ts";
import { events, guards } from "./event.ts";
import { final } from "./final.ts";
import { history, parallel } from "./parallel.ts";
import type { Scenario } from "./scenario.ts";
import { structure } from "./structure.ts";
import { after } from "./time.ts";
import { always, reenter } from "./transition.ts";

const groups: Readonly<Record<string, readonly Scenario[]>> = {
  ...{ structure, parallel, history, events, guards, always, reenter },
  ...{ assigning, sending, telling, enqueueing, after, final, promises, machines },
};

/** Differences that a configuration does not tell: they depend on what functions do, and when. */
const unforeseen = ["throws", "nobody", "same-send-id", "in-while-acting", "json"];

describe.each(Object.entries(groups))("%s", (_group, scenarios) => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => {
      const { machine, moves, input, differs } = scenario;
      const { differences, changes, imported } = await compare(machine, moves, input);
      expect(changes, "something must happen").toBeGreaterThan(moves.length === 0 ? 0 : 1);
      if (differs === undefined) expect(differences).toEqual([]);
      else {
        expect([...new Set(differences.map(({ aspect }) => aspect))].sort()).toEqual([...differs.in].sort());
        const noted = imported.notes.map(({ topic }) => topic);
        if (!unforeseen.includes(differs.topic)) expect(noted).toContain(differs.topic);
      }
    },
  );
});

describe("the scenarios", () => {
  const all = Object.values(groups).flat();
  const shown = new Set(all.flatMap(({ differs }) => differs?.topic ?? []));

  test("are two hundred at least, each under a name of its own in its group", () => {
    expect(all.length).toBeGreaterThanOrEqual(200);
    for (const scenarios of Object.values(groups))
      expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  test("show every difference in behaviour", () => {
    expect([...shown].sort()).toEqual(Object.keys(behaviours).sort());
  });

  test("differ in what the documents say, and the documents say nothing else", () => {
    const page = read("docs/xstate.md");
    const rows = (heading: string) => {
      const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
      return [...section.matchAll(/^\| `([\w-]+)`(?: ○)? \|/gm)].map(([, name]) => name as string).sort();
    };
    expect(rows("What behaves differently")).toEqual(Object.keys(behaviours).sort());
    expect(rows("What does not carry over")).toEqual(Object.keys(losses).sort());
  });
});
