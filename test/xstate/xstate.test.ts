/**
 * XState machines of many shapes, imported and run beside XState itself. Both must show the same after every move,
 * except where `docs/xstate.md` says otherwise: each scenario that differs names the one difference it shows, a
 * difference that does not show is a failure, and so is one that no scenario shows.
 */
import { describe, expect, test } from "vitest";
import { assigning, enqueueing, sending, telling } from "./action.ts";
import { machines, promises } from "./actor.ts";
import { compare } from "./compare.ts";
import { final } from "./final.ts";
import { history, parallel } from "./parallel.ts";
import type { Scenario } from "./scenario.ts";
import { structure } from "./structure.ts";
import { after } from "./time.ts";
import { always, events, guards, reenter } from "./transition.ts";

const groups: Readonly<Record<string, readonly Scenario[]>> = {
  ...{ structure, parallel, history, events, guards, always, reenter },
  ...{ assigning, sending, telling, enqueueing, after, final, promises, machines },
};

describe.each(Object.entries(groups))("%s", (_group, scenarios) => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => {
      const { machine, moves, input, differs } = scenario;
      const { differences, changes } = await compare(machine, moves, input);
      expect(changes, "something must happen").toBeGreaterThan(moves.length === 0 ? 0 : 1);
      if (differs === undefined) expect(differences).toEqual([]);
      else
        expect([...new Set(differences.map(({ aspect }) => aspect))].sort()).toEqual([...differs.in].sort());
    },
  );
});
