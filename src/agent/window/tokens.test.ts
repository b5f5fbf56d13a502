/** Counters: how near the estimate is to the exact count, and that it learns from what models report. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../thread/message.ts";
import { estimateTokens } from "./estimate.ts";
import { gptCounter } from "./gpt.ts";
import { type Calibration, calibrate, calibrated, counterFrom, estimate } from "./tokens.ts";

/** A paragraph of each kind; longer ones of the same kinds were what the estimate was fitted on. */
const samples: Readonly<Record<string, string>> = {
  English:
    "The harbour was quiet when the last boat came in. Two men tied it to the wall, carried their boxes up the stairs and went home without a word, since both of them had been awake for thirty hours.",
  German:
    "Der Hafen war still, als das letzte Boot einlief. Zwei Männer banden es an die Mauer, trugen ihre Kisten die Treppe hinauf und gingen wortlos nach Hause, denn beide waren seit dreißig Stunden wach.",
  Spanish:
    "El puerto estaba tranquilo cuando entró el último barco. Dos hombres lo amarraron al muro, subieron sus cajas por la escalera y se fueron a casa sin decir palabra, pues llevaban treinta horas despiertos.",
  Russian:
    "В порту было тихо, когда вошла последняя лодка. Двое мужчин привязали её к стене, подняли ящики по лестнице и молча ушли домой, потому что оба не спали тридцать часов.",
  Chinese:
    "最后一艘船进港的时候,港口很安静。两个男人把船拴在墙边,把箱子搬上楼梯,一句话也没说就回家了,因为他们已经三十个小时没有睡觉。",
  Japanese:
    "最後の船が入ってきたとき、港は静かだった。二人の男は船を壁につなぎ、箱を階段の上まで運び、三十時間も起きていたので何も言わずに家へ帰った。",
  code: "export function total(items: readonly Item[]): number {\n  let sum = 0;\n  for (const { price, count } of items) {\n    if (count > 0) sum += price * count;\n  }\n  return Math.round(sum * 100) / 100;\n}\n",
  JSON: '{"id":"ord-20391","status":"shipped","items":[{"sku":"A-113","count":2,"price":19.95},{"sku":"B-7","count":1,"price":4.5}],"address":{"city":"Graz","zip":"8010"}}',
  digest:
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 5e884898da28047151d0e56f8dc6292773603d0d6aabbd",
};

describe("the estimate", async () => {
  const exact = await gptCounter();
  test.each(Object.entries(samples))("C2: is within a quarter of the exact count for %s", (_, text) => {
    const ratio = estimateTokens(text) / exact.text(text);
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.25);
  });

  test("is within a tenth on the mean of all kinds", () => {
    const off = Object.values(samples).map((text) => Math.abs(estimateTokens(text) / exact.text(text) - 1));
    expect(off.reduce((sum, one) => sum + one, 0) / off.length).toBeLessThan(0.1);
  });

  test("counts any text, and more of it as more", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        const tokens = estimateTokens(one);
        expect(Number.isInteger(tokens) && tokens >= 0).toBe(true);
        expect(estimateTokens(`${one}\n\n${other}`)).toBeGreaterThanOrEqual(Math.floor(tokens * 0.8));
      }),
    );
  });
});

describe("a counter", () => {
  const message: Message = {
    id: "m",
    role: "assistant",
    at: 0,
    parts: [
      { type: "text", text: "abcd" },
      { type: "thinking", text: "abcd" },
      { type: "file", mediaType: "image/png", data: "AAAA" },
      { type: "call", id: "c", tool: "look", input: { a: 1 } },
    ],
  };

  test("adds up the parts of a message and what surrounds them, once", () => {
    let asked = 0;
    const count = counterFrom(
      (text) => {
        asked++;
        return text.length;
      },
      { perMessage: 3, perCall: 5, file: () => 100 },
    );
    expect(count.message(message)).toBe(3 + 4 + 4 + 100 + 5 + 4 + 7);
    const before = asked;
    count.message(message);
    expect(asked).toBe(before);
    const result: Message = {
      ...message,
      role: "tool",
      parts: [{ type: "result", call: "c", tool: "look", output: [1] }],
    };
    expect(count.message(result)).toBe(3 + 5 + 3);
  });

  test.each(["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base"] as const)(
    "by the vocabulary %s takes control tokens as text",
    async (encoding) => {
      const count = await gptCounter(encoding);
      expect(count.text("<|endoftext|>")).toBeGreaterThan(1);
      expect(count.text("hello")).toBe(1);
    },
  );

  test("C2: follows what a model reports, the first at once and later ones as a moving average", () => {
    const calibration: Calibration = {};
    const count = estimate();
    expect(calibrated(count, calibration, "big")).toBe(count);
    calibrate(calibration, { model: "big", counted: 100, reported: 130 });
    expect(calibrated(count, calibration, "big").message(message)).toBe(
      Math.ceil(count.message(message) * 1.3),
    );
    expect(calibrated(count, calibration, "other")).toBe(count);
    for (let report = 0; report < 40; report++)
      calibrate(calibration, { model: "big", counted: 100, reported: 110 });
    expect(calibration.big?.ratio).toBeCloseTo(1.1, 2);
    expect(calibrated(count, calibration, "big").text("some words here")).toBe(
      Math.ceil(count.text("some words here") * 1.1),
    );
  });

  test("C2: is not corrected if it is exact", async () => {
    const calibration: Calibration = {};
    calibrate(calibration, { model: "big", counted: 1_000, reported: 1_300 });
    const exact = await gptCounter();
    expect(calibrated(exact, calibration, "big")).toBe(exact);
  });

  test("does not follow reports that cannot be meant, or names every object has", () => {
    const calibration: Calibration = {};
    for (const [counted, reported] of [
      [0, 10],
      [100, 0],
      [100, 1_000],
      [200, 800],
      [100, 45],
      [100, Number.NaN],
    ] as const)
      calibrate(calibration, { model: "m", counted, reported });
    expect(calibration).toEqual({});
    const count = estimate();
    expect(calibrated(count, calibration, "toString")).toBe(count);
  });
});
