/**
 * A studio has two tools side by side: one that says what it does in pieces while it runs, and one that charges at most
 * once and can be asked whether it did. Each can be stopped.
 */
import { defineMachine, type Machine } from "holdfast";
import { type CrewContext, region } from "./crew.ts";
import type { Kind } from "./kind.ts";

const calls = {
  speak: { id: "speak", retry: { attempts: 6, first: 200, max: "1s" }, timeout: "6s", heartbeat: "4s" },
  charge: { once: true, reconcile: "audit", timeout: "5s" },
};

export const studioMachine = defineMachine<CrewContext>({
  id: "studio",
  start: { answers: [], errors: [], unknowns: 0 },
  type: "parallel",
  states: {
    speaking: region("speak", calls.speak),
    charging: region("charge", calls.charge),
  } as never,
});

export const studio: Kind = {
  machine: studioMachine as unknown as Machine,
  runsMax: 2,
  rests: ["speaking.idle", "charging.idle"],
  goesBack: true,
  forks: (context) => void (context as { unknowns: number }).unknowns++,
  cancellable: true,
  speaks: "speak",
  input: () => ({}),
  order(n, random) {
    const tool = random.pick(["speak", "speak", "charge"]);
    return { type: random.chance(0.15) ? `stop.${tool}` : tool, data: { n } };
  },
};
