/**
 * The conformance suite: what every store must do, as tests for any framework that has `describe`, `test` and `expect`.
 * A case is named after the invariant of the port it shows.
 */
import { activityCases, chunkCases, documentCases } from "./activity-cases.ts";
import { commitCases, startCases } from "./commit-cases.ts";
import { deadLetterCases } from "./dead-letter-cases.ts";
import { dueCases } from "./due-cases.ts";
import { findCases } from "./find-cases.ts";
import { fleetCases } from "./fleet-cases.ts";
import { fleetReadCases } from "./fleet-read-cases.ts";
import { dedupeCases, inboxCases } from "./inbox-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { mendCases } from "./mend-cases.ts";
import { answersToReach, compareRandom } from "./random.ts";
import { readCases } from "./read-cases.ts";
import { removeCases } from "./remove-cases.ts";
import { searchCases } from "./search-cases.ts";
import { tenantCases } from "./tenant-cases.ts";
import { turnCases } from "./turn-cases.ts";
import type { Cases, OpenStore, TestKit, World } from "./world.ts";

export type { Expect, OpenStore, TestKit } from "./world.ts";

export interface ConformanceOptions {
  /** What the store is called in the tests' names. */
  readonly name: string;
  /** A fresh, open store; called once for every case. */
  open(): Promise<OpenStore>;
  readonly test: TestKit;
  /** Whether several processes share it, so that it has a `fleet`. */
  readonly shared?: boolean;
  /** Whether it has indexes of words, so that it has a `search`. */
  readonly searching?: boolean;
  /** How many random sequences, from seed 1 on, and how long each is. */
  readonly random?: { readonly seeds: number; readonly length: number };
}

const groups: Readonly<Record<string, Cases>> = {
  commit: commitCases,
  starts: startCases,
  inbox: inboxCases,
  dedupe: dedupeCases,
  "dead letter": deadLetterCases,
  due: dueCases,
  read: readCases,
  find: findCases,
  activity: activityCases,
  chunk: chunkCases,
  document: documentCases,
  "lease and fence": leaseCases,
  tenants: tenantCases,
  removal: removeCases,
  mending: mendCases,
};

/** Declares the suite's tests for a store. */
export function conformance(options: ConformanceOptions): void {
  const { name, test: kit, random = { seeds: 12, length: 250 } } = options;
  const declare = (title: string, body: (world: World) => Promise<void>): void =>
    kit.test(title, async () => {
      const opened = await options.open();
      try {
        await body({ ...opened, expect: kit.expect });
      } finally {
        await opened.dispose();
      }
    });
  kit.describe(`${name} keeps the promises of a store`, () => {
    const more = {
      ...(options.shared
        ? { fleet: fleetCases, "fleet, turns": turnCases, "fleet, many runs": fleetReadCases }
        : {}),
      ...(options.searching ? { search: searchCases } : {}),
    };
    for (const [group, cases] of Object.entries({ ...groups, ...more }))
      kit.describe(group, () => {
        for (const [title, body] of Object.entries(cases)) declare(title, body);
      });
    kit.describe("random sequences", () => {
      const reached = new Set<string>();
      for (let seed = 1; seed <= random.seeds; seed++)
        declare(`I1–I5: sequence ${seed} is answered as the memory store answers it`, (world) =>
          compareRandom(world, seed, random.length, reached),
        );
      kit.test("every verb has given each of its answers", async () => {
        kit.expect(answersToReach.filter((answer) => !reached.has(answer))).toEqual([]);
      });
    });
  });
}
