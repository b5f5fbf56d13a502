/** Asking a Redis that fails or hangs: it is left alone, and asked again. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limits } from "../../limits.ts";
import type { RedisClient } from "./client.ts";
import { Link } from "./link.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A link to a Redis that answers as it is told to, and what it was asked. */
async function linkTo(answer: () => Promise<unknown>) {
  const asked: string[] = [];
  const client = {
    isReady: true,
    sendCommand: ([command]: readonly string[]) => {
      asked.push(command as string);
      return answer();
    },
  } as unknown as RedisClient;
  const link = new Link({ client }, limits.redisMs);
  await link.open();
  return { link, asked };
}

const failing = () => Promise.reject(new Error("full"));
const hanging = () => new Promise<never>(() => {});

test("L2: after some failures in a row it is left alone for a while, then one question tries", async () => {
  let answer = failing;
  const { link, asked } = await linkTo(() => answer());
  for (let questions = 0; questions < 10; questions++) expect(await link.ask("GET")).toBeUndefined();
  expect(asked).toHaveLength(limits.redisFailuresMax);
  expect(link.rests).toBe(true);
  await vi.advanceTimersByTimeAsync(limits.redisRestMs);
  await Promise.all([link.ask("GET"), link.ask("GET")]);
  expect(asked, "of two at once one tries").toHaveLength(limits.redisFailuresMax + 1);
  expect(link.rests, "and it failed").toBe(true);
  await vi.advanceTimersByTimeAsync(limits.redisRestMs);
  answer = () => Promise.resolve("well") as Promise<never>;
  for (let questions = 0; questions < 3; questions++) expect(await link.ask("GET")).toBe("well");
});

test("L2: failures with an answer in between are none in a row", async () => {
  let questions = 0;
  const { link, asked } = await linkTo(() => (++questions % 3 === 0 ? Promise.resolve("well") : failing()));
  for (let number = 0; number < 12; number++) await link.ask("GET");
  expect(asked).toHaveLength(12);
});

test("L1: what does not answer in time is not waited for", async () => {
  const { link } = await linkTo(hanging);
  const answer = link.ask("GET");
  await vi.advanceTimersByTimeAsync(limits.redisMs + 1);
  expect(await answer).toBeUndefined();
});

test("L3: while many questions wait no more are asked", async () => {
  const { link, asked } = await linkTo(hanging);
  for (let questions = 0; questions < limits.redisWaitingMax + 5; questions++) void link.ask("GET");
  expect(asked).toHaveLength(limits.redisWaitingMax);
  expect(link.rests).toBe(true);
});

test("a key of another kind is no failure of Redis", async () => {
  const { link, asked } = await linkTo(() => Promise.reject(new Error("WRONGTYPE Operation against a key")));
  for (let questions = 0; questions < 5; questions++) expect(await link.ask("GET")).toBeNull();
  expect(asked).toHaveLength(5);
});
