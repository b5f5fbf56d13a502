/** Words of texts, with spaces between them and without. */
import { expect, test } from "vitest";
import { searchThread } from "./search.ts";
import { append, emptyThread } from "./thread.ts";
import { wordsOf } from "./words.ts";

test("C1: what was said in a script without spaces is found by a part of it", () => {
  const thread = emptyThread();
  for (const [id, text] of Object.entries({
    a: "用户喜欢吃苹果",
    b: "ユーザーは猫を飼っています",
    c: "Apples",
  }))
    append(thread, { id, role: "user", at: 0, parts: [{ type: "text", text }] });
  const found = (query: string) => searchThread(thread, query).map(({ message }) => message.id);
  expect([found("苹果"), found("猫"), found("ユーザー"), found("电脑")]).toEqual([["a"], ["b"], ["b"], []]);
});

test("words with spaces between them are as they stand; others are pairs, and ideographs alone", () => {
  expect(wordsOf("我有iPhone手机。猫")).toEqual(["我", "我有", "有", "iphon", "手", "手机", "机", "猫"]);
  expect(wordsOf("Ada codes in C++")).toEqual(["ada", "cod", "in", "c"]);
  expect(wordsOf("用户喜欢 the apples", { content: true })).toEqual(["用户喜欢", "appl"]);
});
