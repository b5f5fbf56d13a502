/** Tables for people: columns stand under each other, whatever is written in them. */
import { expect, test } from "vitest";
import { tableOf } from "./table.ts";

test("a column begins at the same cell under letters of every script, pictures and marks", () => {
  expect(
    tableOf(
      ["RUN", "AT"],
      [
        ["plain", 1],
        ["机器", 2],
        ["🚢", 3],
        ["u\u0308ber", 4],
        ["한국", 5],
      ],
    ),
  ).toEqual(["RUN    AT", "plain  1", "机器   2", "🚢     3", "u\u0308ber   4", "한국   5"]);
});
