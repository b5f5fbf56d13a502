/** The checker is shown to tell right from wrong, on histories written by hand and on many that are drawn. */
import { expect, describe as group, test } from "vitest";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { type Answer, applyTo, firstValue, type Operation } from "./cell.ts";
import { type Call, checkCell, describe } from "./checker.ts";

const write = (value: number): Operation => ({ kind: "write", value });
const add = (value: number): Operation => ({ kind: "add", value });
const cas = (from: number, to: number): Operation => ({ kind: "cas", from, to });
const read: Operation = { kind: "read" };

/** A call from one moment to another; without an answer nobody knows what became of it. */
const call = (from: number, operation: Operation, until?: number, answer: Answer = null): Call => ({
  client: "c",
  operation,
  from,
  ...(until === undefined ? {} : { until, answer }),
});

const right: Readonly<Record<string, readonly Call[]>> = {
  "nothing at all": [],
  "one after the other": [call(0, write(1), 1), call(2, read, 3, 1), call(4, add(2), 5, 3)],
  "a read during a write sees it": [call(0, write(1), 10), call(1, read, 2, 1)],
  "a read during a write does not see it": [call(0, write(1), 10), call(1, read, 2, 0)],
  "two reads during a write see the old and then the new": [
    call(0, write(1), 10),
    call(1, read, 2, 0),
    call(3, read, 4, 1),
  ],
  "writes at once, in the other order": [call(0, write(1), 10), call(1, write(2), 9), call(11, read, 12, 1)],
  "a write nobody knows of is seen late": [
    call(0, write(1)),
    call(5, read, 6, 0),
    call(7, read, 8, 0),
    call(9, read, 10, 1),
  ],
  "a write nobody knows of never happens": [call(0, write(1)), call(5, read, 6, 0)],
  "one of two that nobody knows of happens": [call(0, add(5)), call(0, add(7)), call(9, read, 10, 7)],
  "both happen, late and in turn": [
    call(0, add(5)),
    call(0, add(7)),
    call(9, read, 10, 7),
    call(11, read, 12, 12),
  ],
  "a lock that one of two gets": [call(0, cas(0, 1), 5, true), call(1, cas(0, 2), 6, false)],
  "a lock that fails for what nobody knows of": [call(0, write(3)), call(1, cas(0, 2), 6, false)],
};

const wrong: Readonly<Record<string, readonly Call[]>> = {
  "a stale read": [call(0, write(1), 1), call(2, read, 3, 0)],
  "a lost update": [call(0, add(1), 5, 1), call(1, add(1), 6, 1)],
  "a lost update, seen later": [call(0, add(1), 5, 1), call(1, add(1), 6, 2), call(7, read, 8, 1)],
  "an operation that was done twice": [call(0, add(1), 1, 1), call(2, read, 3, 2)],
  "one that nobody knows of, done twice": [call(0, add(1)), call(2, read, 3, 2)],
  "a value that nobody wrote": [call(0, write(1), 1), call(2, read, 3, 7)],
  "answers in another order than calls": [
    call(0, write(1), 1),
    call(2, write(2), 3),
    call(4, read, 5, 2),
    call(6, read, 7, 1),
  ],
  "a new value and then the old": [call(0, write(1), 10), call(1, read, 2, 1), call(3, read, 4, 0)],
  "two that see two writes in different orders": [
    call(0, write(1), 20),
    call(0, write(2), 20),
    call(1, read, 2, 1),
    call(3, read, 4, 2),
    call(5, read, 6, 1),
  ],
  "an answered write that a crash undid": [call(0, write(1), 1), call(2, write(2), 3), call(9, read, 10, 1)],
  "a lock that two have": [call(0, cas(0, 1), 5, true), call(1, cas(0, 2), 6, true)],
  "a lock that fails where it must not": [call(0, cas(0, 1), 1, false)],
  "seen before it was called": [call(0, read, 1, 5), call(2, write(5))],
};

test.each(Object.keys(right))("what can be so is linearizable: %s", (name) => {
  expect(describe(checkCell(right[name] as Call[]))).toBe("linearizable");
});

test.each(Object.keys(wrong))("what cannot be so is found: %s", (name) => {
  const verdict = checkCell(wrong[name] as Call[]);
  expect(verdict.verdict).toBe("not linearizable");
  expect(describe(verdict)).toContain("none of these can be next: c:");
});

/** A history of clients at once on a cell that does as it should; some are never answered. */
function drawHistory(random: Random, length: number, lost: number): Call[] {
  const clients = Array.from({ length: 4 }, () => 0);
  let [value, now] = [firstValue, 0];
  const calls: Call[] = [];
  for (let place = 0; place < length; place++) {
    now += random.between(1, 4);
    const client = random.below(clients.length);
    const from = Math.max(now - random.below(12), clients[client] as number);
    now = Math.max(now, from);
    const until = now + random.below(12);
    const operation = random.pick([
      write(random.below(4)),
      add(1),
      cas(random.below(3), random.below(3)),
      read,
    ]);
    const isLost = random.chance(lost);
    clients[client] = isLost ? now : until + 1;
    // Of those that nobody knows of some never happen.
    if (isLost && random.chance(0.5)) calls.push({ client: `${client}`, operation, from });
    else {
      const outcome = applyTo(value, operation);
      value = outcome.value;
      calls.push({
        client: `${client}`,
        operation,
        from,
        ...(isLost ? {} : { until, answer: outcome.answer }),
      });
    }
  }
  return calls;
}

/** Whether an order can be found by trying every one there is. */
function tryAll(left: readonly Call[], value: number): boolean {
  if (left.every(({ until }) => until === undefined)) return true;
  const deadline = Math.min(...left.map(({ until = Number.POSITIVE_INFINITY }) => until));
  return left.some((one) => {
    const outcome = applyTo(value, one.operation);
    if (one.from > deadline || (one.until !== undefined && one.answer !== outcome.answer)) return false;
    return tryAll(
      left.filter((other) => other !== one),
      outcome.value,
    );
  });
}

group("histories that were drawn", () => {
  test("of a cell that does as it should are linearizable", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const history = drawHistory(createRandom(seed), 120, 0.06);
      expect(describe(checkCell(history)), `seed ${seed}`).toBe("linearizable");
    }
  });

  test("are judged as by trying every order there is, whatever the answers are", () => {
    const verdicts = { true: 0, false: 0 };
    for (let seed = 1; seed <= 1_500; seed++) {
      const random = createRandom(seed);
      const history = drawHistory(random, 7, 0.2).map((one) =>
        one.answer !== undefined && random.chance(0.15)
          ? { ...one, answer: random.pick([0, 1, 2, 3, true, false, null]) }
          : one,
      );
      const wanted = tryAll(history, firstValue);
      verdicts[`${wanted}`]++;
      expect(checkCell(history).verdict, `seed ${seed}`).toBe(wanted ? "linearizable" : "not linearizable");
    }
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(300);
  });
});
