/** Votes: who may vote, until when, and what ballots come to. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { defineBoard } from "./board.ts";
import { openBoard } from "./open.ts";
import { emptyBoard, type Proposal } from "./state.ts";
import { tally } from "./tally.ts";
import { closeProposals, type ProposalAsked, propose, vote } from "./vote.ts";

const jury = defineBoard({ id: "jury", keys: { verdict: { policy: "reject" } } });
const names = ["ada", "bob", "cleo"] as const;

const open = async (here: World) => {
  const runtime = await here.boot([jury]);
  const as = (agent: string) => openBoard(runtime, jury, { id: "b", agent });
  return {
    runtime,
    ada: await as("ada"),
    bob: await as("bob"),
    cleo: await as("cleo"),
    dan: await as("dan"),
  };
};
const question = { question: "Ship it?", options: ["yes", "no"], voters: names };

onEveryStore((world) => {
  test("C8: a vote ends when everybody has voted, and tells what it came to", async () => {
    const { ada, bob, cleo } = await open(await world());
    const { id, closesAt } = await ada.propose(question);
    expect(closesAt).toBe(null);
    const decided = bob.decided(id);
    expect(await ada.vote(id, "yes")).toEqual({ outcome: "counted" });
    expect(await bob.vote(id, null)).toEqual({ outcome: "counted" });
    expect(await ada.tally(id)).toMatchObject({
      decision: { outcome: "open" },
      ballots: 2,
      missing: ["cleo"],
    });
    await cleo.vote(id, "yes");
    const end = await decided;
    expect(end).toEqual({
      ...{ id, question: "Ship it?", closesAt: null, ballots: 3, abstentions: 1, missing: [] },
      decision: { outcome: "decided", winner: "yes", by: "rule" },
      scores: { yes: 2, no: 0 },
    });
    expect(await ada.decided(id)).toEqual(end);
  });

  test("C8: ballots that are late, of strangers or second ones are refused, and say why", async () => {
    const here = await world();
    const { ada, bob, cleo, dan } = await open(here);
    const { id } = await ada.propose({ ...question, for: "5s", quorum: 1 });
    await ada.vote(id, "yes");
    expect(await ada.vote(id, "no")).toEqual({ outcome: "refused", why: "ada has voted" });
    expect(await dan.vote(id, "no")).toEqual({ outcome: "refused", why: "dan is no voter" });
    await expect(bob.vote(id, "maybe")).rejects.toMatchObject({ code: "VOTE_INVALID" });
    await expect(bob.vote(id, ["yes", "no"])).rejects.toMatchObject({ code: "VOTE_INVALID" });
    await expect(bob.vote("proposal-9", "no")).rejects.toMatchObject({ code: "VOTE_UNKNOWN" });
    await here.clock.advance("5s");
    expect(await cleo.vote(id, "no")).toEqual({ outcome: "refused", why: "the vote has ended" });
    expect((await cleo.tally(id)).decision).toEqual({ outcome: "decided", winner: "yes", by: "rule" });
  });

  test("C8: a deadline ends a vote in its time, also over a restart, and without a quorum it decides nothing", async () => {
    const here = await world();
    const { runtime, ada } = await open(here);
    const { id, closesAt } = await ada.propose({ ...question, for: "20s" });
    expect(closesAt).toBe(1_000_000 + 20_000);
    await ada.vote(id, "yes");
    await here.crash(runtime);
    const { bob } = await open(here);
    const decided = bob.decided(id);
    await here.clock.advance("20s");
    expect((await decided).decision).toEqual({ outcome: "no quorum", missing: 1 });
  });

  test("C8: a ballot may be changed until the end where the proposal says so", async () => {
    const here = await world();
    const { ada, bob, cleo } = await open(here);
    const { id } = await ada.propose({ ...question, for: "5s", changeable: true });
    for (const agent of [ada, bob, cleo]) await agent.vote(id, "no");
    expect((await ada.tally(id)).decision).toEqual({ outcome: "open" });
    for (const agent of [ada, bob]) await agent.vote(id, "yes");
    await here.clock.advance("5s");
    expect((await ada.tally(id)).decision).toMatchObject({ winner: "yes" });
  });

  test("F5: a proposal that nobody could decide is refused", async () => {
    const { ada } = await open(await world());
    const bad = [
      { options: ["yes"] },
      { options: ["yes", "yes"] },
      { voters: [] },
      { voters: ["ada", "ada"] },
      { voters: { ada: 0 }, rule: "weighted" },
      { voters: { ada: 5, bob: 1 } },
      { voters: { ada: 5, bob: 1 }, rule: "ranked" },
      { quorum: 4 },
      { quorum: 1.5 },
      { quorum: 0.5 },
      { quorum: 0 },
      { tie: "chair" },
      { tie: "chair", chair: "dan" },
      { changeable: true },
    ] as const;
    for (const part of bad)
      await expect(ada.propose({ ...question, ...part }), JSON.stringify(part)).rejects.toMatchObject({
        code: "VOTE_INVALID",
      });
    expect((await ada.run.state()).context.proposals).toEqual([]);
  });
});

const asked: ProposalAsked = {
  ...{
    question: "Which?",
    options: ["a", "b", "c"],
    rule: "majority",
    quorum: 1,
    tie: "reject",
    chair: null,
  },
  ...{ isChangeable: false, openMs: 10, voters: [] },
};

/** What these ballots, one for each voter, come to when the time is up. */
function decisionOf(
  part: Partial<ProposalAsked>,
  ballots: readonly string[],
  weights: readonly number[] = [],
) {
  const board = emptyBoard();
  const voters = ballots.map((_, index) => ({ name: `v${index}`, weight: weights[index] ?? 1 }));
  const { id } = propose(board, { ...asked, voters, ...part }, { by: "v0", at: 0, to: undefined });
  for (const [index, ballot] of ballots.entries())
    vote(board, { id: id as string, choice: [...ballot] }, { by: `v${index}`, at: 1, to: undefined });
  closeProposals(board, 10);
  return tally(board.proposals[0] as Proposal).decision;
}
const wins = (winner: string, by = "rule") => ({ outcome: "decided", winner, by });

describe("what ballots come to", () => {
  test("C8: a majority is more than half of the votes for something", () => {
    expect(decisionOf({}, ["a", "a", "b"])).toEqual(wins("a"));
    expect(decisionOf({}, ["a", "a", "", "", ""])).toEqual(wins("a"));
    expect(decisionOf({}, ["a", "a", "b", "c"])).toEqual({ outcome: "no majority" });
    expect(decisionOf({}, ["", ""])).toEqual({ outcome: "no majority" });
    expect(decisionOf({ quorum: 2 }, ["", "a"])).toEqual(wins("a"));
  });

  test("C8: weights count where votes are weighted, and nowhere else", () => {
    expect(decisionOf({ rule: "weighted" }, ["a", "b", "b"], [5, 2, 2])).toEqual(wins("a"));
    expect(decisionOf({ rule: "majority" }, ["a", "b", "b"], [5, 2, 2])).toEqual(wins("b"));
    expect(decisionOf({ rule: "weighted" }, ["a", "b", "c"], [3, 2, 2])).toEqual({ outcome: "no majority" });
  });

  test("C8: weights are summed exactly, in whatever order the ballots come", () => {
    const ballots = [
      ["a", 0.1],
      ["a", 0.2],
      ["a", 0.3],
      ["b", 0.6],
    ] as const;
    const orders = [
      [0, 1, 2, 3],
      [2, 1, 0, 3],
      [3, 2, 0, 1],
    ].map((order) => order.map((place) => ballots[place] as (typeof ballots)[number]));
    for (const order of orders)
      expect(
        decisionOf(
          { rule: "weighted" },
          order.map(([one]) => one),
          order.map(([, weight]) => weight),
        ),
      ).toEqual({
        ...{ outcome: "tied", between: ["a", "b"] },
      });
    expect(decisionOf({ rule: "weighted" }, ["a", "b"], [1e-7, 1.5e-7])).toEqual(wins("b"));
    expect(decisionOf({ rule: "weighted" }, ["a", "b", "a"], [1e21, 1e21, 0.001])).toEqual(wins("a"));
  });

  test("C8: the scores of weighted votes are the numbers that were meant", () => {
    const board = emptyBoard();
    const voters = [0.1, 0.2, 1e-7].map((weight, index) => ({ name: `v${index}`, weight }));
    const { id } = propose(board, { ...asked, rule: "weighted", voters }, { by: "v0", at: 0, to: undefined });
    for (const { name } of voters)
      vote(board, { id: id as string, choice: ["a"] }, { by: name, at: 1, to: undefined });
    expect(tally(board.proposals[0] as Proposal).scores).toEqual({ a: 0.3000001, b: 0, c: 0 });
  });

  test("C8: of ranked options the one that beats every other wins, though another has more points", () => {
    // a beats b by 3 to 2, and b has 7 points against 6.
    expect(decisionOf({ rule: "ranked" }, ["abc", "abc", "abc", "bca", "bca"])).toEqual(wins("a"));
    // Everyone is beaten by someone: a over b, b over c, c over a. By points it is a.
    const circle = ["abc", "abc", "bca", "bca", "cab"];
    expect(decisionOf({ rule: "ranked" }, circle)).toEqual(wins("b"));
    expect(decisionOf({ rule: "ranked" }, ["a", "b", "bc"])).toEqual(wins("b"));
  });

  test("C8: a tie is decided as the proposal says: by the list, by nobody, or by the chair's ballot", () => {
    const even = ["b", "a", "a", "b"];
    expect(decisionOf({}, even)).toEqual({ outcome: "tied", between: ["a", "b"] });
    expect(decisionOf({ tie: "first" }, even)).toEqual(wins("a", "tie rule"));
    expect(decisionOf({ tie: "chair", chair: "v0" }, even)).toEqual(wins("b", "tie rule"));
    expect(decisionOf({ tie: "chair", chair: "v4" }, [...even, "c"])).toMatchObject({ outcome: "tied" });
    const ranked = { rule: "ranked", tie: "chair", chair: "v0" } as const;
    expect(decisionOf(ranked, ["cab", "bca", "abc"])).toEqual(wins("c", "tie rule"));
  });

  test("C8: the order in which ballots come makes no difference, and a majority is never overruled", () => {
    const ballot = fc.shuffledSubarray(["a", "b", "c"]).map((choice) => choice.join(""));
    fc.assert(
      fc.property(
        fc.array(ballot, { minLength: 1, maxLength: 9 }),
        fc.infiniteStream(fc.nat()),
        (ballots, keys) => {
          const shuffled = ballots
            .map((one) => ({ one, key: keys.next().value as number }))
            .sort((one, other) => one.key - other.key)
            .map(({ one }) => one);
          const decision = decisionOf({ rule: "ranked" }, ballots);
          expect(decisionOf({ rule: "ranked" }, shuffled)).toEqual(decision);
          const first = (option: string) => ballots.filter((one) => one[0] === option).length;
          for (const option of ["a", "b", "c"])
            if (first(option) * 2 > ballots.length) expect(decision).toEqual(wins(option));
        },
      ),
    );
  });
});

test("a board has as many open proposals, and remembers as many that have ended, as one may", () => {
  const board = emptyBoard();
  const asker = { by: "ada", at: 0, to: undefined };
  const voters = [{ name: "ada", weight: 1 }];
  for (let count = 0; count < limits.boardProposalsMax; count++) propose(board, { ...asked, voters }, asker);
  expect(() => propose(board, { ...asked, voters }, asker)).toThrow("100 proposals are open already");
  closeProposals(board, 10);
  expect(board.proposals.length).toBe(limits.boardProposalsMax);
  const { id } = propose(board, { ...asked, voters, openMs: null }, { ...asker, at: 11 });
  vote(board, { id: id as string, choice: ["a"] }, { ...asker, at: 12 });
  expect(board.proposals.length).toBe(limits.boardProposalsMax);
  expect(() => vote(board, { id: "proposal-1", choice: ["a"] }, asker)).toThrow('no proposal "proposal-1"');
});

test("a proposal has as many options and voters as one may", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);
  const asker = { by: "ada", at: 0, to: undefined };
  const of = (options: number, voters: number) =>
    propose(
      emptyBoard(),
      { ...asked, options: many(options), voters: many(voters).map((name) => ({ name, weight: 1 })) },
      asker,
    );
  expect(of(limits.optionsMax, limits.votersMax)).toMatchObject({ closesAt: 10 });
  expect(() => of(limits.optionsMax + 1, 1)).toThrow("it has 51 options");
  expect(() => of(2, limits.votersMax + 1)).toThrow("it has 1001 voters");
});
