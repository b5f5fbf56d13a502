/** Topics across turns: where one ends, and where an earlier one comes back. */
import { describe, expect, test } from "vitest";
import { emptyTopics, labelOf, trackTopic } from "./topics.ts";

const conversation: readonly [string, number][] = [
  ["Our database migration failed last night on the orders table.", 0],
  ["The migration log says that the orders table was locked.", 0],
  ["Who locked the orders table during the migration?", 0],
  ["A nightly report held a lock on the database.", 0],
  ["Yes, please.", 0],
  ["By the way, can you find a restaurant for the team dinner on Friday?", 1],
  ["For the team dinner there are three restaurants near the office.", 1],
  ["Book the Italian restaurant for twelve people.", 1],
  ["The dinner is booked for Friday at the Italian restaurant.", 1],
  ["Back to the migration: can we run it again on the orders table tonight?", 0],
  ["The migration of the database can run at two.", 0],
  ["How do I renew my passport before the summer holidays?", 2],
];

describe("topics", () => {
  test("C1: a change of words or a phrase that says so begins one, and an earlier one comes back", () => {
    const topics = emptyTopics();
    expect(conversation.map(([text]) => trackTopic(topics, text))).toEqual(
      conversation.map(([, topic]) => topic),
    );
    expect(topics.topics[0]?.stretches).toEqual([
      { from: 0, to: 4 },
      { from: 9, to: 10 },
    ]);
    expect(labelOf(topics.topics[0] as never)).toMatch(/migration/);
    expect(labelOf(topics.topics[1] as never)).toMatch(/dinner|restaurant/);
  });

  test("what is remembered of a turn does not grow with the conversation", () => {
    const topics = emptyTopics();
    for (let turn = 0; turn < 400; turn++)
      trackTopic(topics, `alpha${turn % 7} beta${turn % 11} gamma${turn} delta${turn % 5} word${turn % 3}`);
    expect(Math.max(...topics.topics.map(({ words }) => words.length))).toBeLessThanOrEqual(24);
    expect(topics.turns).toBe(400);
  });
});
