/** Taking up what is due. */
import { expect, test } from "vitest";
import { HoldfastError } from "../errors.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Waker } from "./waker.ts";

const names = Array.from({ length: 25 }, (_, index) => ({ tenant: "default", run: `run ${index}` }));

/** A waker of which these runs are due, what it takes up, and how it asked; `attend` answers for each. */
function wakerOf(attend: () => Promise<undefined>, due = names) {
  const begun: string[] = [];
  const problems: { readonly run: string; readonly error: unknown }[] = [];
  const asked: unknown[] = [];
  const clock = new VirtualClock();
  const waker = new Waker({
    clock,
    standing: {
      due: async (_now, _limit, unreadable) => {
        asked.push({ unreadable });
        return { names: due, isMore: false };
      },
      nextDue: async () => undefined,
      lookMs: () => 1_000,
    },
    attend: ({ run }) => {
      begun.push(run);
      return attend();
    },
    isTaking: () => false,
    isBusy: () => false,
    deliver: async () => {},
    refill: () => {},
    park: () => {},
    problem: ({ run }, error) => void problems.push({ run, error }),
  });
  return { waker, begun, asked, clock, problems };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what is due is taken up in its order, some of it at the same time", async () => {
  const answers: (() => void)[] = [];
  const { waker, begun } = wakerOf(() => new Promise((resolve) => answers.push(() => resolve(undefined))));
  const opened = waker.open();
  await turn();
  expect(begun).toEqual(names.slice(0, 10).map(({ run }) => run));
  answers.shift()?.();
  await turn();
  expect(begun.length).toBe(11);
  while (answers.length > 0) {
    answers.shift()?.();
    await turn();
  }
  await opened;
  expect(begun).toEqual(names.map(({ run }) => run));
  waker.close();
});

test("when the store cannot be reached all that were begun come to rest first, and none is begun", async () => {
  const refusals: ((error: Error) => void)[] = [];
  const { waker, begun } = wakerOf(() => new Promise((_, reject) => refusals.push(reject)));
  let isOpen = false;
  const opened = waker.open().then(() => {
    isOpen = true;
  });
  await turn();
  const [last, ...others] = refusals;
  for (const refuse of others) refuse(new Error("no answer"));
  await turn();
  expect([begun.length, isOpen]).toEqual([10, false]);
  last?.(new Error("no answer"));
  await opened;
  expect(begun.length).toBe(10);
  waker.close();
});

test("runs that cannot be read take nobody's place when what is due is asked for again", async () => {
  const gone = new HoldfastError("MACHINE_UNKNOWN", "There is no machine");
  const { waker, begun, asked, clock } = wakerOf(() => Promise.reject(gone));
  await waker.open();
  await clock.advance("1s");
  expect(asked).toEqual([{ unreadable: 0 }, { unreadable: names.length }]);
  expect(begun.length).toBe(names.length);
  waker.close();
});

test("a run that is doubted again while it is looked at, or cannot be read, is looked at again", async () => {
  const [name] = names as [(typeof names)[number]];
  const answers = [
    async () => waker.wakeLater([name]),
    () => Promise.reject(new HoldfastError("STORE_UNAVAILABLE", "no answer")),
  ];
  const { waker, begun, clock } = wakerOf(async () => {
    await answers.shift()?.();
    return undefined;
  }, []);
  await waker.open();
  waker.wakeLater([name]);
  await clock.advance("10s");
  expect(begun).toEqual([name.run, name.run, name.run]);
  waker.close();
});

test("an error that nobody foresaw is told once of its kind, and what is due is tried again until it goes well", async () => {
  const bug = () => new TypeError("undefined is not a run");
  const busy = () => Object.assign(new Error(`no place at ${clock.now()}`), { code: "EMFILE" });
  let raise: (() => Error) | undefined = bug;
  const { waker, begun, clock, problems } = wakerOf(
    async () => {
      if (raise !== undefined) throw raise();
      return undefined;
    },
    names.slice(0, 1),
  );
  await waker.open();
  await clock.advance("10s");
  expect(problems).toEqual([{ run: "run 0", error: bug() }]);
  raise = busy;
  await clock.advance("10s");
  raise = () => new HoldfastError("STORE_UNAVAILABLE", "no answer");
  await clock.advance("10s");
  expect(problems.map(({ error }) => (error as { code?: string }).code)).toEqual([undefined, "EMFILE"]);
  const tried = begun.length;
  expect(tried).toBeGreaterThan(20);
  raise = undefined;
  await clock.advance("2s");
  expect(problems.at(-1)).toMatchObject({ run: "run 0", error: { code: "STORE_CORRUPT" } });
  waker.close();
});

test("that what is due cannot be looked for is told, too", async () => {
  const { waker, clock, problems } = wakerOf(async () => undefined, null as never);
  await waker.open();
  await clock.advance("10s");
  expect(problems).toMatchObject([{ run: "waking", error: { name: "TypeError" } }]);
  waker.close();
});
