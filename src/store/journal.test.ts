/** Bytes and back: what is stored is what was given, and what was changed is found out. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../core/json.ts";
import { limits } from "../limits.ts";
import { decode, encode } from "./codec.ts";
import { type Entry, genesis, readEntry, writeEntry } from "./journal.ts";

const same = (bytes: Uint8Array) => bytes;
const long = "a text long enough to be worth keeping once, however often an entry has it";

const entryOf = (data: Json): Entry => ({
  seq: 1,
  at: 5,
  hash: "h",
  event: { type: "say", data },
  outcome: "taken",
  patches: [{ op: "append", path: ["context", "messages"], value: [data] }],
  effects: [],
});

describe("the codec", () => {
  test("gives back any JSON as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(JSON.stringify(decode(encode(json), "it"))).toBe(JSON.stringify(json));
      }),
    );
  });

  test("compresses what is large, and keeps hostile keys and half characters", () => {
    const value = JSON.parse('{"__proto__":{"x":1},"half":"\\ud800"}') as Json;
    expect(JSON.stringify(decode(encode(value), "it"))).toBe(JSON.stringify(value));
    const large = "x".repeat(limits.compressedBytesMin);
    expect(encode(large).length).toBeLessThan(large.length / 10);
    expect(decode(encode(large), "it")).toBe(large);
  });

  test("refuses what is damaged, cut short or not ours, and names it", () => {
    const bytes = encode({ a: 1 });
    for (const bad of [new Uint8Array(), Uint8Array.of(9, 1), bytes.slice(0, 4), Uint8Array.of(1, 2, 3)]) {
      expect(() => decode(bad, "entry 7")).toThrow("entry 7 cannot be read");
    }
  });
});

describe("an entry", () => {
  test("comes back as it was, and a long text it has twice is written once", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, withText) => {
        const data = JSON.parse(JSON.stringify(withText ? { value, text: long } : value)) as Json;
        const row = writeEntry(entryOf(data), genesis, same);
        expect(JSON.stringify(readEntry(row, genesis, same, "it"))).toBe(JSON.stringify(entryOf(data)));
      }),
    );
    const { bytes } = writeEntry(entryOf({ text: long }), genesis, same);
    expect(Buffer.from(bytes).toString().split(long)).toHaveLength(2);
  });

  test("with any single bit changed does not match its digest any more", () => {
    const row = writeEntry(entryOf("hello"), genesis, same);
    for (let bit = 0; bit < row.bytes.length * 8; bit++) {
      const bytes = row.bytes.slice();
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(() => readEntry({ ...row, bytes }, genesis, same, "it")).toThrow("does not match its digest");
    }
  });

  test("does not follow any other entry than its own predecessor", () => {
    const first = writeEntry(entryOf(1), genesis, same);
    const second = writeEntry({ ...entryOf(2), seq: 2 }, first.digest, same);
    expect(readEntry(second, first.digest, same, "it").seq).toBe(2);
    expect(() => readEntry(second, genesis, same, "it")).toThrow("does not match its digest");
  });
});
