/** What profiles learn, against the closed forms of what they should. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { limits } from "../../limits.ts";
import { adapt } from "./adapt.ts";
import { drift } from "./drift.ts";
import { exportProfile } from "./export.ts";
import { defineProfile } from "./open-profile.ts";
import { preference } from "./preference.ts";
import {
  emptyProfile,
  giveConsent,
  type Observation,
  observe,
  type ProfileState,
  setPreference,
  unsetPreference,
  withdrawConsent,
} from "./profile.ts";

const day = 86_400_000;
const { definition } = defineProfile({
  id: "taste",
  preferences: {
    brief: { type: "flag", purpose: "style", halfLife: "10 days" },
    tone: { type: "category", values: ["warm", "plain", "dry"], purpose: "style", halfLife: "10 days" },
    words: { type: "number", tolerance: 50, min: 0, purpose: "length", halfLife: "10 days" },
    language: { type: "category", values: ["de", "en"] },
  },
  contexts: ["channel", "task"],
});

const change = (state: ProfileState, recipe: (draft: Draft<ProfileState>) => void): ProfileState =>
  produce(state, recipe, undefined);
const consented = change(emptyProfile, (draft) => {
  giveConsent(draft, definition, { purpose: "style", at: 0 });
  giveConsent(draft, definition, { purpose: "length", at: 0 });
});
type Seen = Observation & { readonly at: number };
const learned = (seen: readonly Seen[], from = consented) => ({
  definition,
  state: seen.reduce((state, one) => change(state, (draft) => observe(draft, definition, one)), from),
});
const times = (count: number, one: Omit<Seen, "at">, at = 0): Seen[] =>
  Array.from({ length: count }, () => ({ ...one, at }));
/** The bound as the header of preference.ts gives it. */
const bound = (share: number, strength: number) =>
  Math.max(0, share - 1.645 * Math.sqrt((share * (1 - share)) / (strength + 1)));

describe("evidence", () => {
  test("C6: after a yes and b no at once, the share is that of Beta(1 + a, 1 + b)", () => {
    for (const [yes, no] of [
      [1, 0],
      [3, 0],
      [5, 2],
      [2, 7],
    ] as const) {
      const profile = learned([
        ...times(yes, { key: "brief", value: true }),
        ...times(no, { key: "brief", value: false }),
      ]);
      const { shares, value, confidence } = preference(profile, "brief", { now: 0 });
      const mean = (1 + yes) / (2 + yes + no);
      expect(shares?.true).toBeCloseTo(mean, 12);
      expect(value).toBe(yes > no);
      expect(confidence).toBeCloseTo(bound(Math.max(mean, 1 - mean), 2 + yes + no), 12);
    }
  });

  test("C6: after a half-life an observation counts half, whenever it is looked at", () => {
    const profile = learned([
      { key: "brief", value: true, at: 0 },
      { key: "brief", value: true, at: 10 * day },
      { key: "brief", value: false, at: 20 * day },
    ]);
    // At day 30 the three count 1/8, 1/4 and 1/2.
    const { shares, why } = preference(profile, "brief", { now: 30 * day });
    expect(shares?.true).toBeCloseTo((1 + 1 / 8 + 1 / 4) / (2 + 1 / 8 + 1 / 4 + 1 / 2), 12);
    expect(why.map(({ value, countsNow }) => [value, countsNow])).toEqual([
      [false, 0.5],
      [true, 0.25],
      [true, 0.125],
    ]);
  });

  test("C6: of several values the shares are those of a Dirichlet, with the prior spread evenly", () => {
    const seen = [...times(4, { key: "tone", value: "dry" }), ...times(1, { key: "tone", value: "warm" })];
    const { value, shares } = preference(learned(seen), "tone", { now: 0 });
    expect(value).toBe("dry");
    expect(shares?.dry).toBeCloseTo((2 / 3 + 4) / 7, 12);
    expect(shares?.warm).toBeCloseTo((2 / 3 + 1) / 7, 12);
    expect(shares?.plain).toBeCloseTo(2 / 3 / 7, 12);
  });

  test("C6: of numbers the mean forgets like the rest, and the bound is Chebyshev's", () => {
    const profile = learned([
      { key: "words", value: 100, at: 0 },
      { key: "words", value: 160, at: 10 * day },
    ]);
    const { value, confidence } = preference(profile, "words", { now: 10 * day });
    const mean = (0.5 * 100 + 160) / 1.5;
    const squares = 0.5 * (100 - mean) ** 2 + (160 - mean) ** 2;
    expect(value).toBeCloseTo(mean, 9);
    const variance = (squares + 2 * 2_500) / 3.5;
    expect(confidence).toBeCloseTo(1 - variance / (1.5 * 2_500), 9);
  });

  test("C6: three of a kind are enough to go by, two are not", () => {
    expect(preference(learned(times(2, { key: "brief", value: true })), "brief", { now: 0 }).applies).toBe(
      false,
    );
    expect(preference(learned(times(3, { key: "brief", value: true })), "brief", { now: 0 }).applies).toBe(
      true,
    );
  });

  test("C6: what weighs more counts more", () => {
    const [heavy] = [learned([{ key: "brief", value: true, weight: 3, at: 0 }])];
    const many = learned(times(3, { key: "brief", value: true }));
    expect(preference(heavy, "brief", { now: day }).shares).toEqual(
      preference(many, "brief", { now: day }).shares,
    );
  });
});

const seenAt = (at: fc.Arbitrary<number>) =>
  fc.oneof(
    fc.record({ key: fc.constant("brief"), value: fc.boolean(), at }),
    fc.record({ key: fc.constant("tone"), value: fc.constantFrom("warm", "plain", "dry"), at }),
    fc.record({ key: fc.constant("words"), value: fc.nat(1_000), at }),
  );
const keys = ["brief", "tone", "words"] as const;

describe("of any observations", () => {
  test("C6: the order they come in does not matter, late ones included", () => {
    fc.assert(
      fc.property(fc.array(seenAt(fc.nat(40 * day)), { maxLength: 12 }), fc.nat(), (seen, seed) => {
        const shuffled = seen.toSorted((one, other) => ((one.at + seed) % 97) - ((other.at + seed) % 97));
        const now = 41 * day;
        for (const key of keys) {
          const [one, other] = [
            preference(learned(seen), key, { now }),
            preference(learned(shuffled), key, { now }),
          ];
          expect(one.confidence).toBeCloseTo(other.confidence, 6);
          if (key === "words") expect(one.value ?? 0).toBeCloseTo((other.value as number) ?? 0, 4);
          for (const [value, share] of Object.entries(one.shares ?? {}))
            expect(share).toBeCloseTo(other.shares?.[value] ?? 0, 9);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("C6: without news nothing becomes surer: what does not apply does not begin to, and yes or no only fades", () => {
    fc.assert(
      fc.property(fc.array(seenAt(fc.nat(5 * day)), { minLength: 1, maxLength: 12 }), (seen) => {
        const profile = learned(seen);
        for (const key of keys) {
          const told = [5, 8, 20, 60, 400, 4_000].map((days) =>
            preference(profile, key, { now: days * day }),
          );
          told.slice(1).forEach((later, index) => {
            const before = told[index]!;
            if (!before.applies) expect(later.applies).toBe(false);
            if (key !== "tone") expect(later.confidence).toBeLessThanOrEqual(before.confidence + 1e-9);
          });
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("situations", () => {
  const mail = { channel: "mail" };
  const report = { channel: "mail", task: "report" };

  test("C6: one of which nothing is known is as the more general one", () => {
    const profile = learned(times(6, { key: "brief", value: true }));
    expect(preference(profile, "brief", { now: 0, situation: report })).toEqual(
      preference(profile, "brief", { now: 0 }),
    );
  });

  test("C6: one with evidence of its own begins with eight of the general one's, and departs from it", () => {
    const seen = [
      ...times(20, { key: "brief", value: true }),
      ...times(30, { key: "brief", value: false, situation: report }),
    ];
    const profile = learned(seen);
    const general = (1 + 20) / 52;
    const inMail = (8 * general + 0) / 38;
    expect(preference(profile, "brief", { now: 0 }).shares?.true).toBeCloseTo(general, 12);
    expect(preference(profile, "brief", { now: 0, situation: mail }).shares?.true).toBeCloseTo(inMail, 12);
    expect(preference(profile, "brief", { now: 0, situation: report }).shares?.true).toBeCloseTo(
      (8 * inMail) / 38,
      12,
    );
    expect(preference(profile, "brief", { now: 0, situation: report })).toMatchObject({
      value: false,
      applies: true,
    });
    expect(preference(profile, "brief", { now: 0, situation: { channel: "chat" } }).why).toHaveLength(0);
  });

  test("C6: numbers depart in the same way", () => {
    const seen = [
      ...times(4, { key: "words", value: 100 }),
      ...times(4, { key: "words", value: 300, situation: mail }),
    ];
    // The general mean of all eight is 200; in mail it counts as eight beside the four.
    expect(preference(learned(seen), "words", { now: 0 }).value).toBeCloseTo(200, 9);
    expect(preference(learned(seen), "words", { now: 0, situation: mail }).value).toBeCloseTo(
      (8 * 200 + 4 * 300) / 12,
      9,
    );
  });

  test("C6: what is kept does not grow with what is seen", () => {
    const seen = Array.from({ length: 300 }, (_, index) => ({
      ...{ key: "brief", value: true, at: index },
      situation: { channel: `c${index}` },
    }));
    const { state } = learned(seen);
    const { buckets, rows } = state.learned.brief!;
    expect(Object.keys(buckets)).toHaveLength(limits.evidenceBucketsMax);
    expect(Object.keys(buckets)).toContain("");
    expect(rows).toHaveLength(limits.evidenceRowsMax);
    expect(rows.at(-1)).toMatchObject({ at: 299 });
  });
});

describe("the user's word", () => {
  test("C6: a setting wins over whatever is observed, until it is taken back", () => {
    const { state } = learned(times(9, { key: "brief", value: true }));
    const set = change(state, (draft) =>
      setPreference(draft, definition, { key: "brief", value: false, at: 1 }),
    );
    const more = learned(times(9, { key: "brief", value: true }), set);
    expect(preference(more, "brief", { now: 2 })).toMatchObject({
      ...{ value: false, confidence: 1, applies: true, basis: "setting" },
    });
    const unset = change(more.state, (draft) => unsetPreference(draft, definition, "brief"));
    expect(preference({ definition, state: unset }, "brief", { now: 2 })).toMatchObject({
      value: true,
      basis: "evidence",
    });
  });

  test("C6: without consent nothing is learned and nothing is given", () => {
    const { state } = learned(times(5, { key: "brief", value: true }), emptyProfile);
    expect(state).toEqual(emptyProfile);
    const set = change(state, (draft) =>
      setPreference(draft, definition, { key: "tone", value: "dry", at: 0 }),
    );
    expect(preference({ definition, state: set }, "tone", { now: 0 })).toMatchObject({
      ...{ value: undefined, applies: false, basis: "withheld" },
    });
  });

  test("C6: withdrawing forgets what was learned for that purpose, and only that", () => {
    const profile = learned([
      ...times(5, { key: "brief", value: true }),
      ...times(5, { key: "words", value: 80 }),
    ]);
    const state = change(profile.state, (draft) =>
      withdrawConsent(draft, definition, { purpose: "style", at: 9 }),
    );
    expect(state.learned).not.toHaveProperty("brief");
    expect(preference({ definition, state }, "words", { now: 0 })).toMatchObject({
      value: 80,
      applies: true,
    });
    const again = change(state, (draft) => giveConsent(draft, definition, { purpose: "style", at: 10 }));
    expect(preference({ definition, state: again }, "brief", { now: 0 })).toMatchObject({
      basis: "none",
      applies: false,
    });
  });

  test("C6: what has no purpose is set, and never learned", () => {
    const state = change(emptyProfile, (draft) => {
      expect(observe(draft, definition, { key: "language", value: "de", at: 0 })).toBe(false);
      setPreference(draft, definition, { key: "language", value: "de", at: 0 });
    });
    expect(preference({ definition, state }, "language", { now: 0 })).toMatchObject({
      value: "de",
      basis: "setting",
    });
  });

  test("C6: the export has all that is held", () => {
    const { state } = learned(times(3, { key: "brief", value: true, source: "a short reply" }));
    const set = change(state, (draft) =>
      setPreference(draft, definition, { key: "brief", value: false, at: 1 }),
    );
    const exported = exportProfile({ definition, state: set }, { now: 0 });
    expect(exported.consents).toEqual(set.consents);
    expect(exported.preferences.brief).toMatchObject({
      ...{ purpose: "style", setting: { value: false, at: 1 } },
      learned: {
        value: true,
        observations: times(3, { value: true, weight: 1, source: "a short reply" } as never),
      },
    });
    expect(JSON.parse(JSON.stringify(exported))).toEqual(exported);
  });

  test("F5: what a profile cannot hold is refused, with what it could", () => {
    const seen = (one: object) => () => learned([{ key: "brief", value: true, at: 0, ...one }]);
    expect(seen({ key: "brif" })).toThrow('no preference "brif"; did you mean "brief"?');
    expect(seen({ key: "tone", value: "loud" })).toThrow("there are warm, plain, dry");
    expect(seen({ value: 1 })).toThrow("write true or false");
    expect(seen({ key: "words", value: -1 })).toThrow("write a number from 0 to Infinity");
    expect(seen({ weight: 0 })).toThrow("write a number above 0");
    expect(seen({ situation: { chanel: "mail" } })).toThrow('did you mean "channel"?');
    expect(seen({ situation: { channel: 4 } })).toThrow("write text");
    expect(() =>
      change(emptyProfile, (draft) => giveConsent(draft, definition, { purpose: "ads", at: 0 })),
    ).toThrow("there are style, length");
    const parts = { type: "flag" } as const;
    for (const bad of [
      ...[
        { ...parts, prior: 0 },
        { ...parts, applyAbove: 1 },
        { ...parts, halfLife: "1d", recentHalfLife: "2d" },
      ],
      ...[
        { type: "category", values: ["one"] },
        { type: "number", tolerance: 0 },
      ],
    ] as never[])
      expect(() => defineProfile({ id: "x", preferences: { bad } })).toThrow('The preference "bad"');
  });
});

describe("change over time", () => {
  test("C6: a change of habit is seen in what is recent before it outweighs the rest", () => {
    const seen = [
      ...Array.from({ length: 20 }, (_, index) => ({ key: "brief", value: true, at: index * day })),
      ...Array.from({ length: 4 }, (_, index) => ({ key: "brief", value: false, at: (20 + index) * day })),
    ];
    const profile = learned(seen);
    const [found] = drift(profile, { now: 23 * day });
    const sum = (half: number, from: number, to: number) =>
      seen.slice(from, to).reduce((total, { at }) => total + 2 ** (-(23 * day - at) / (half * day)), 0);
    const share = (half: number) => (1 + sum(half, 0, 20)) / (2 + sum(half, 0, 24));
    expect(found).toMatchObject({ key: "brief", drifted: true });
    expect(found?.distance).toBeCloseTo(share(10) - share(10 / 6), 9);
    expect(drift(learned(seen.slice(0, 20)), { now: 19 * day })[0]).toMatchObject({ drifted: false });
  });

  test("C6: of numbers a change is told in tolerances", () => {
    const seen = [
      ...times(10, { key: "words", value: 100 }),
      ...times(3, { key: "words", value: 400 }, 15 * day),
    ];
    const [found] = drift(learned(seen), { now: 15 * day });
    const mean = (half: number) => {
      const old = 10 * 2 ** (-15 / half);
      return (old * 100 + 3 * 400) / (old + 3);
    };
    expect(found?.distance).toBeCloseTo((mean(10 / 6) - mean(10)) / 50, 9);
    expect(found?.drifted).toBe(true);
  });
});

test("C6: behaviour follows from what is sure, and says from what", () => {
  const profile = learned([
    ...times(5, { key: "tone", value: "dry" }),
    ...times(1, { key: "brief", value: true }),
  ]);
  const { settings, because } = adapt(
    profile,
    {
      style: { from: "tone", to: (tone) => `Write in a ${tone} tone.`, otherwise: "" },
      maxTokens: { from: "brief", to: (brief) => (brief ? 200 : 2_000), otherwise: 800 },
    },
    { now: 0 },
  );
  const text: string = settings.style;
  expect([text, settings.maxTokens]).toEqual(["Write in a dry tone.", 800]);
  expect(because.style).toMatchObject({ value: "dry", applies: true });
  expect(because.maxTokens).toMatchObject({ value: true, applies: false });
});
