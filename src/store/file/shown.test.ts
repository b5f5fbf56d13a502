import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { encode, plainBytes } from "../codec.ts";
import { hide, show } from "./shown.ts";

/** What comes back from a file that shows these bytes, pretty-printed or on one line. */
function throughFile(bytes: Uint8Array): Uint8Array[] {
  return [undefined, 2].map((indent) =>
    hide(JSON.parse(JSON.stringify({ at: 1, ...show(bytes) }, null, indent))),
  );
}

const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;

/** Texts that are JSON, or nearly, and not as this program would write it. */
const oddTexts = [
  ...[" 1", "1.0", "1e2", "-0", '{"a":1,"a":2}', '{"b":1,"1":2}', '"\\u0041"', '"\\/"', "[1, 2]", "", "nul"],
  ...['"\ud800"', '"\\ud800"', '{"__proto__":{"a":1}}', '{"json":1}', '{"base64":"x"}', "1".repeat(400)],
  ...[
    "[".repeat(20_000) + "]".repeat(20_000),
    '"\u2028\u0000"',
    "\ufeff1",
    '"\\ud83d\\ude00"',
    "12345678901234567890",
  ],
];

describe("bytes in a file", () => {
  test("what the codec wrote comes back exactly, and is shown as JSON unless it was compressed", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), (value) => {
        const bytes = encode(value as Json);
        expect(throughFile(bytes).every((back) => same(back, bytes))).toBe(true);
        expect(show(bytes)).toHaveProperty("json");
      }),
      { numRuns: 1_000 },
    );
    const large = encode("word ".repeat(10_000));
    expect(show(large)).toHaveProperty("base64");
    expect(throughFile(large).every((back) => same(back, large))).toBe(true);
  });

  test("any bytes at all come back exactly", () => {
    const check = (bytes: Uint8Array) => throughFile(bytes).every((back) => same(back, bytes));
    fc.assert(fc.property(fc.uint8Array(), check), { numRuns: 500 });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => check(plainBytes(text))),
      { numRuns: 500 },
    );
  });

  test.each(oddTexts.map((text) => [text.slice(0, 30), text]))(
    "%j comes back as it was written",
    (_, text) => {
      const bytes = plainBytes(text);
      expect(throughFile(bytes).every((back) => same(back, bytes))).toBe(true);
    },
  );

  test("a checksum that is wrong is kept wrong, so that whoever reads it finds the damage", () => {
    const bytes = encode({ a: 1 }).slice();
    bytes[2] = (bytes[2] as number) ^ 1;
    expect(show(bytes)).toHaveProperty("base64");
    expect(throughFile(bytes).every((back) => same(back, bytes))).toBe(true);
  });
});
