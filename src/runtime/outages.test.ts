/** Outages are noted for good, whoever else writes their list in the same moment. */
import { describe, expect, test } from "vitest";
import { memory } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";
import { Outages } from "./outages.ts";

/** A timer of the policy that every outage moves. */
const timer = {
  key: "1.0",
  event: { type: "ring" },
  due: 10_000,
  resume: "remaining",
  since: 0,
  ms: 10_000,
} as const;

describe("outages", () => {
  test("B11: are noted although somebody who was replaced notes one in the same moment", async () => {
    const store = memory();
    let isFirst = true;
    const readDocument: Store["readDocument"] = async (...place) => {
      const document = await store.readDocument(...place);
      const late = isFirst;
      isFirst = false;
      if (late) await new Outages(store).open(1_000, 2_000);
      return document;
    };
    const of = (verb: string | symbol) => store[verb as keyof Store] as (...given: never[]) => unknown;
    const seen = new Proxy(store, {
      get: (_, verb) => (verb === "readDocument" ? readDocument : of(verb).bind(store)),
    });
    const second = new Outages(seen);
    await second.open(3_000, 4_000);
    const both = [
      { from: 1_000, until: 2_000 },
      { from: 3_000, until: 4_000 },
    ];
    expect(second.moving([timer], 5_000)).toEqual(both);
    const third = new Outages(store);
    await third.open(undefined, 5_000);
    expect(third.moving([timer], 5_000)).toEqual(both);
  });
});
