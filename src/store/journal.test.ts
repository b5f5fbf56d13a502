/** Bytes and back: what is stored is what was given, and what was changed is found out. */
import { crc32, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../core/json.ts";
import { limits } from "../limits.ts";
import { decode, decodeSized, encode, encodeSized } from "./codec.ts";
import { type Contents, contentDigest, contentsOf, pack, unpack } from "./content.ts";
import { type Binding, type Entry, genesis, openEntry, readEntry, writeEntry } from "./journal.ts";
import type { EntryRow } from "./records.ts";

/** Contents in a map, and bytes as they are. */
function bind(texts = new Map<string, string>()): Binding & { readonly texts: Map<string, string> } {
  const contents: Contents = {
    keep(text) {
      texts.set(contentDigest(text), text);
      return contentDigest(text);
    },
    read: (digest) => texts.get(digest),
  };
  return { close: (bytes) => bytes, open: (bytes) => bytes, contents, texts };
}
const plain = bind();
const read = (row: EntryRow, previous: string, binding = plain) =>
  readEntry(openEntry(row, previous, binding, "it"), binding, "it");
const long = "a text long enough to be worth keeping once, however often an entry has it";

/** Every copy of bytes with one bit changed. Not by `slice`, which of a Buffer is the same bytes once more. */
function* withOneBitChanged(good: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bytes = new Uint8Array(good);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    yield bytes;
  }
}

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

  test("keeps a value of as many bytes as may be, and none of one more", () => {
    // Two of them are its quotes, and a letter may have two.
    const [largest, letters] = [limits.valueBytesMax - 2, limits.valueBytesMax / 2];
    const value = "x".repeat(largest);
    expect(decode(encode(value), "it") === value).toBe(true);
    for (const more of [`${value}x`, "é".repeat(letters)])
      expect(() => encode(more)).toThrow(expect.objectContaining({ code: "VALUE_TOO_LARGE" }));
  });

  test("reads what is nested as deep as the largest record, and nothing deeper", () => {
    const deepest = limits.jsonDepthMax + limits.recordDepthMax;
    const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as Json;
    expect(decode(encode(nested(deepest)), "it")).toEqual(nested(deepest));
    expect(() => decode(encode(nested(deepest + 1)), "it")).toThrow("it cannot be read");
  });

  test("tells the same size of a value whichever way it goes, that of its text", () => {
    for (const value of ["short", "x".repeat(2 * limits.compressedBytesMin)]) {
      const { bytes, size } = encodeSized(value);
      expect([size, decodeSized(bytes, "it").size]).toEqual([value.length + 2, value.length + 2]);
    }
  });

  test("does not unpack what becomes larger than any value", () => {
    const packed = zstdCompressSync(`"${"x".repeat(limits.valueBytesMax - 1)}"`);
    const header = Buffer.alloc(5, 1);
    header.writeUInt32BE(crc32(packed), 1);
    expect(() => decode(Buffer.concat([header, packed]), "it")).toThrow("it cannot be read");
  });
});

describe("an entry", () => {
  test("comes back as it was, and a long text it has twice is written once", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, withText) => {
        const data = JSON.parse(JSON.stringify(withText ? { value, text: long } : value)) as Json;
        const row = writeEntry(entryOf(data), genesis, plain);
        expect(JSON.stringify(read(row, genesis))).toBe(JSON.stringify(entryOf(data)));
      }),
    );
    const { bytes } = writeEntry(entryOf({ text: long }), genesis, plain);
    expect(Buffer.from(bytes).toString().split(long)).toHaveLength(2);
  });

  test("comes back whole from bytes without what most entries have alike", () => {
    const usual: Entry = { ...entryOf(1), patches: [] };
    const row = writeEntry(usual, genesis, plain);
    expect(JSON.stringify(read(row, genesis))).toBe(JSON.stringify(usual));
    expect(Buffer.from(row.bytes).toString()).not.toMatch(/taken|patches|effects/);
    const effects = [{ type: "cancel", of: "activity", key: "k" }] as const;
    const other: Entry = {
      ...entryOf(1),
      outcome: "refused",
      effects,
      error: { code: "X" },
      dropped: [{ type: "late" }],
      spent: { cost: 1 },
    };
    expect(read(writeEntry(other, genesis, plain), genesis)).toEqual(other);
  });

  test("with any single bit changed does not match its digest any more", () => {
    const row = writeEntry(entryOf("hello"), genesis, plain);
    for (const bytes of withOneBitChanged(row.bytes))
      expect(() => read({ ...row, bytes }, genesis)).toThrow("does not match its digest");
  });

  test("does not follow any other entry than its own predecessor", () => {
    const first = writeEntry(entryOf(1), genesis, plain);
    const second = writeEntry({ ...entryOf(2), seq: 2 }, first.digest, plain);
    expect(read(second, first.digest).seq).toBe(2);
    expect(() => read(second, genesis)).toThrow("does not match its digest");
    expect(() => read({ ...second, seq: 3 }, first.digest)).toThrow("does not match its digest");
  });
});

describe("a large text", () => {
  const large = "x".repeat(limits.contentLengthMin);

  test("leaves its entry and is kept once, at the limit and not below it", () => {
    const binding = bind();
    const row = writeEntry(entryOf({ text: large, less: large.slice(1) }), genesis, binding);
    expect([...binding.texts.values()]).toEqual([large]);
    expect(contentsOf(openEntry(row, genesis, binding, "it"))).toEqual([contentDigest(large)]);
    expect(read(row, genesis, binding)).toEqual(entryOf({ text: large, less: large.slice(1) }));
  });

  test("is one of several that an entry needs, and each of them is told", () => {
    const binding = bind();
    const data = { one: large, two: [long, long], three: `${large}y` };
    const row = writeEntry(entryOf(data), genesis, binding);
    const needed = [large, `${large}y`].map(contentDigest);
    expect(contentsOf(openEntry(row, genesis, binding, "it"))).toEqual(needed);
    expect(read(row, genesis, binding)).toEqual(entryOf(data));
  });

  test("that is gone is found out, not read as empty", () => {
    const packed = pack({ text: large }, bind().contents);
    expect(() => unpack(packed, plain.contents, "entry 3")).toThrow("entry 3 needs the content");
  });

  test("for a place that is not there, or not the value's own, is found out", () => {
    for (const path of [["gone"], ["text", "deeper"], ["__proto__", "toString"]]) {
      const packed = { body: { text: "" }, texts: ["x"], places: [[0, ...path]] } as unknown as Json;
      expect(() => unpack(packed, plain.contents, "entry 3")).toThrow("entry 3 has a text for");
    }
  });

  test("of half characters is not taken for another one", () => {
    const [one, other] = ["\ud800", "\ud801"].map((half) => half + large) as [string, string];
    expect(contentDigest(one)).not.toBe(contentDigest(other));
  });
});

describe("any stored value", () => {
  test("with any single bit changed is refused", () => {
    for (const value of [{ n: 5 }, "x".repeat(limits.compressedBytesMin)]) {
      for (const bytes of withOneBitChanged(encode(value)))
        expect(() => decode(bytes, "it")).toThrow("it cannot be read");
    }
  });
});
