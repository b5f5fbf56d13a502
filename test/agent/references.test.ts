/** References on the labelled set: its size, and an accuracy that may not fall. */
import { expect, test } from "vitest";
import { accuracy, answers, dialogues } from "./references.ts";

test("C1: references of a labelled set of over 200 turns are resolved as well as they were", () => {
  const turns = dialogues.reduce((sum, dialogue) => sum + dialogue.turns.length, 0);
  expect(turns).toBeGreaterThanOrEqual(200);
  const all = answers();
  const held = all.filter((answer) => answer.held);
  expect(all.length).toBeGreaterThanOrEqual(100);
  expect(accuracy(all.filter((answer) => !answer.held))).toBeGreaterThanOrEqual(0.9);
  expect(accuracy(held)).toBeGreaterThanOrEqual(0.8);
});

test("those that are wrong are less sure than those that are right", () => {
  const mean = (right: boolean) => {
    const margins = answers().flatMap((answer) => (answer.right === right ? [answer.margin] : []));
    return margins.reduce((sum, margin) => sum + margin, 0) / margins.length;
  };
  expect(mean(false)).toBeLessThan(mean(true));
});
