/**
 * What the compiler knows in tests of a machine that declares schemas: its scripts, its input, its events and its output.
 * Each promise has a line that compiles and a line that must not. Nothing here runs.
 */
import { answers, failing, harness, later, never } from "../../src/testing/index.ts";
import { booking } from "./booking.ts";
import { type Equal, is } from "./promises.ts";

const cheap = { id: "DL1", price: 400 };

export async function use(): Promise<void> {
  const test = await harness(booking, {
    search: ({ goal }, { attempt }) => [{ id: goal, price: attempt }],
    book: answers(new Error("busy"), never(), later("5s", { reference: "X1" })),
    ofAChild: () => "whatever",
  });
  await harness(booking, () => ({
    search: async () => [cheap],
    book: failing(1, "busy", { reference: "X1" }),
  }));
  // @ts-expect-error it gives something else
  await harness(booking, { search: () => ["DL1"] });
  // @ts-expect-error it gives something else
  await harness(booking, { book: answers(new Error("busy"), { number: 1 }) });
  // @ts-expect-error it is given something else
  await harness(booking, { search: ({ budget }) => [{ id: budget, price: 1 }] });

  await test.start({ goal: "NYC", budget: 500 }, { id: "trip" });
  // @ts-expect-error it needs an input
  await test.start();
  // @ts-expect-error it needs another input
  await test.start({ goal: "NYC" });

  await test.send("choose", { flight: "DL1" }, { key: "click" });
  await test.ask("abandon", {}, { timeout: "1s" });
  // @ts-expect-error misspelt
  await test.send("chose", { flight: "DL1" });
  // @ts-expect-error it needs data
  await test.send("choose");
  // @ts-expect-error it needs other data
  await test.ask("choose", { flight: 1 });

  is<Equal<typeof test.output, { reference: string } | undefined>>();
  is<Equal<typeof test.context.budget, number>>();
  const end = await test.run.finished();
  if (end.state === "booked") is<Equal<typeof end.output, { reference: string }>>();
}
